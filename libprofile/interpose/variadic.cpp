// Variadic stdio: a wrapper can only call the function that takes a va_list, whose own wrapper then does the work.
#include <cstdarg>
#include <cstdio>

#include "libprofile/interpose/next.hpp"

// The asm labels avoid the headers' declarations of these names, whose attributes a definition must not repeat.
extern "C" {
HALCYON_EXPORT int halcyon_vfprintf(FILE*, const char*, va_list) __asm__("vfprintf");
HALCYON_EXPORT int halcyon_vfprintf_chk(FILE*, int, const char*, va_list) __asm__("__vfprintf_chk");
HALCYON_EXPORT int halcyon_vdprintf(int, const char*, va_list) __asm__("vdprintf");
HALCYON_EXPORT int halcyon_vdprintf_chk(int, int, const char*, va_list) __asm__("__vdprintf_chk");
HALCYON_EXPORT int halcyon_dprintf(int file, const char* format, ...) __asm__("dprintf");
HALCYON_EXPORT int halcyon_dprintf_chk(int file, int flag, const char* format, ...) __asm__("__dprintf_chk");
HALCYON_EXPORT int halcyon_fprintf(FILE* stream, const char* format, ...) __asm__("fprintf");
HALCYON_EXPORT int halcyon_printf(const char* format, ...) __asm__("printf");
HALCYON_EXPORT int halcyon_fprintf_chk(FILE* stream, int flag, const char* format, ...) __asm__("__fprintf_chk");
HALCYON_EXPORT int halcyon_printf_chk(int flag, const char* format, ...) __asm__("__printf_chk");

int halcyon_dprintf(int file, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = halcyon_vdprintf(file, format, arguments);
  va_end(arguments);
  return written;
}

int halcyon_dprintf_chk(int file, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = halcyon_vdprintf_chk(file, flag, format, arguments);
  va_end(arguments);
  return written;
}

int halcyon_fprintf(FILE* stream, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = halcyon_vfprintf(stream, format, arguments);
  va_end(arguments);
  return written;
}

int halcyon_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = halcyon_vfprintf(stdout, format, arguments);
  va_end(arguments);
  return written;
}

int halcyon_fprintf_chk(FILE* stream, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = halcyon_vfprintf_chk(stream, flag, format, arguments);
  va_end(arguments);
  return written;
}

int halcyon_printf_chk(int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = halcyon_vfprintf_chk(stdout, flag, format, arguments);
  va_end(arguments);
  return written;
}
}
