#include "libprofile/system/process_facts.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "libprofile/system/descriptor.hpp"

namespace halcyon {

// A rank that dies asks this on the stack of a signal handler, which may be small: printf() takes two KiB.
std::optional<ProcessFacts> facts_of(pid_t process) {
  constexpr char file_name[] = "/stat";
  char path[32] = "/proc/";
  char* const end = std::to_chars(path + std::strlen(path), std::end(path) - sizeof file_name, process).ptr;
  std::memcpy(end, file_name, sizeof file_name);
  const Descriptor file(static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)));
  if (process <= 0 || !file) return std::nullopt;
  char text[512];  // more than the fields below take
  const long got = syscall(SYS_read, file.number(), text, sizeof text - 1);
  if (got <= 0) return std::nullopt;
  text[got] = '\0';
  // "PID (NAME) STATE PARENT ...": the name may have blanks and parentheses in it.
  const char* const name = std::strchr(text, '(');
  const char* field = std::strrchr(text, ')');
  if (name == nullptr || field == nullptr || field < name || std::strlen(field) < 3) return std::nullopt;
  ProcessFacts facts;
  std::copy_n(name + 1, std::min<std::ptrdiff_t>(field - name - 1, facts.name.size() - 1), facts.name.begin());
  field += 2;
  facts.state = *field;
  constexpr int state = 3;  // numbers of fields, as in proc(5)
  constexpr int parent = 4;
  constexpr int threads = 20;
  constexpr int start_time = 22;
  for (int number = state; number < start_time; ++number) {
    field = std::strchr(field, ' ');
    if (field == nullptr) return std::nullopt;
    ++field;
    if (number + 1 == parent) facts.parent = static_cast<pid_t>(std::strtol(field, nullptr, 10));
    if (number + 1 == threads) facts.threads = std::strtol(field, nullptr, 10);
  }
  facts.start_time = std::strtoull(field, nullptr, 10);
  return facts;
}

bool descends_from(pid_t process, pid_t ancestor) {
  while (process > 1) {
    if (process == ancestor) return true;
    const std::optional<ProcessFacts> facts = facts_of(process);
    if (!facts) return false;
    process = facts->parent;
  }
  return process == ancestor;
}

}  // namespace halcyon
