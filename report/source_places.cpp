#include "report/source_places.hpp"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "libprofile/format/stream.hpp"
#include "libprofile/system/limited_process.hpp"

namespace halcyon {
namespace {

// The memory limit is that large because the debug information of the largest programs is mapped. Nobody should wait
// longer for a name than the time limits.
constexpr ProcessLimits limits{.memory_bytes = std::uint64_t{8} << 30, .cpu_seconds = 10, .seconds = 20};
constexpr std::size_t most_answer_bytes = 1 << 20;
constexpr std::size_t most_name_bytes = 160;  // of a function name; those of templates may be longer

/// A call site as the recorder writes it: operation@module+0xoffset.
struct Place {
  std::string site;
  const Module* module = nullptr;
  std::uint64_t offset = 0;
};

std::optional<Place> place_of(const std::string& site, const std::vector<Module>& modules) {
  const std::size_t at = site.find('@');
  const std::size_t plus = site.rfind("+0x");
  if (at == std::string::npos || plus == std::string::npos || plus < at) return std::nullopt;
  Place place{.site = site};
  const char* const end = site.data() + site.size();
  const auto [last, error] = std::from_chars(site.data() + plus + 3, end, place.offset, 16);
  if (error != std::errc() || last != end || place.offset == 0) return std::nullopt;
  const std::string_view name = std::string_view(site).substr(at + 1, plus - at - 1);
  for (const Module& module : modules) {
    if (module.name != name) continue;
    if (place.module != nullptr) return std::nullopt;  // two modules of that name: nobody knows which it is
    place.module = &module;
  }
  const bool is_sure =
      place.module != nullptr && !place.module->build_id.empty() && place.module->path.starts_with('/');
  return is_sure ? std::optional(place) : std::nullopt;
}

std::string shortened(std::string name) {
  if (name.size() <= most_name_bytes) return name;
  name.resize(most_name_bytes);
  return name + "…";
}

// The name in the source: demangles C++ and the modules of gfortran.
std::string function_name(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                              std::free);
  if (demangled != nullptr) return shortened(demangled.get());
  const std::string_view name(symbol);
  const std::size_t module_end = name.find("_MOD_");
  if (name.starts_with("__") && module_end != std::string_view::npos) {
    return shortened(std::string(name.substr(2, module_end - 2)) + "::" + std::string(name.substr(module_end + 5)));
  }
  return shortened(symbol);
}

bool has_build_id(Dwfl_Module* module, const std::string& expected) {
  const unsigned char* bits = nullptr;
  GElf_Addr where = 0;
  const int size = dwfl_module_build_id(module, &bits, &where);
  std::string found;
  for (int i = 0; i < size; ++i) {
    found += "0123456789abcdef"[bits[i] >> 4];
    found += "0123456789abcdef"[bits[i] & 15];
  }
  return size > 0 && found == expected;
}

// The address in `module` at which the file begins in memory. The recorder's offsets count from there.
std::optional<GElf_Addr> begin_of(Dwfl_Module* module) {
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(module, &bias);
  std::size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return std::nullopt;
  std::optional<GElf_Addr> lowest;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_LOAD) continue;
    lowest = std::min(lowest.value_or(segment.p_vaddr), segment.p_vaddr);
  }
  if (!lowest) return std::nullopt;
  return bias + (*lowest & ~static_cast<GElf_Addr>(sysconf(_SC_PAGESIZE) - 1));
}

SourcePlace source_place(Dwfl_Module* module, GElf_Addr address) {
  SourcePlace place;
  GElf_Off offset = 0;
  GElf_Sym symbol;
  if (const char* name = dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr)) {
    place.function = function_name(name);
  }
  int line = 0;
  Dwfl_Line* const found = dwfl_module_getsrc(module, address);
  const char* const file = found != nullptr ? dwfl_lineinfo(found, nullptr, &line, nullptr, nullptr, nullptr) : nullptr;
  if (file != nullptr && line > 0) {
    const std::string_view path(file);
    place.source = std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(line);
  }
  return place;
}

// The source places of one module's call sites, in the same order.
std::vector<SourcePlace> places_in(const Module& file, const std::vector<Place>& places) {
  std::vector<SourcePlace> found(places.size());
  struct stat status {};
  // Regular files only: opening a device or a pipe may have an effect, or block.
  if (stat(file.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return found;
  const Dwfl_Callbacks callbacks{.find_elf = nullptr,
                                 .find_debuginfo = dwfl_standard_find_debuginfo,
                                 .section_address = dwfl_offline_section_address,
                                 .debuginfo_path = nullptr};
  const std::unique_ptr<Dwfl, decltype(&dwfl_end)> session(dwfl_begin(&callbacks), dwfl_end);
  if (session == nullptr) return found;
  dwfl_report_begin(session.get());
  constexpr GElf_Addr anywhere = 0x10000000;
  Dwfl_Module* const module = dwfl_report_elf(session.get(), file.name.c_str(), file.path.c_str(), -1, anywhere, false);
  dwfl_report_end(session.get(), nullptr, nullptr);
  if (module == nullptr || !has_build_id(module, file.build_id)) return found;
  const std::optional<GElf_Addr> begin = begin_of(module);
  for (std::size_t i = 0; begin && i < places.size(); ++i) {
    // A return address points behind the call, which may be the last one of its line or function: hence - 1.
    found[i] = source_place(module, *begin + places[i].offset - 1);
  }
  return found;
}

void send_places(const Module& module, const std::vector<Place>& places, int to) {
  unsetenv("DEBUGINFOD_URLS");  // never use the network
  std::string texts;
  for (const SourcePlace& place : places_in(module, places)) {
    texts += place.function + '\0' + place.source + '\0';
  }
  FrameWriter(to).attribute("places", std::string_view(texts));
}

// All `count` places, or none if the answer is not complete.
std::vector<SourcePlace> receive_places(std::size_t count, int from) {
  Frame frame;
  if (read_frame(from, frame, most_answer_bytes) != Received::frame) return {};
  std::vector<std::string> texts;
  for (auto at = frame.payload.begin(); at != frame.payload.end();) {
    const auto end = std::find(at, frame.payload.end(), '\0');
    texts.emplace_back(at, end);
    at = end == frame.payload.end() ? end : end + 1;
  }
  if (texts.size() != 2 * count) return {};
  std::vector<SourcePlace> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = {std::move(texts[2 * i]), std::move(texts[2 * i + 1])};
  return places;
}

}  // namespace

void find_source_places(Profile& profile) {
  std::map<const Module*, std::vector<Place>> by_module;
  for (const std::string& site : profile.sites) {
    if (const std::optional<Place> place = place_of(site, profile.modules)) by_module[place->module].push_back(*place);
  }
  for (const auto& entry : by_module) {
    // No structured bindings here: Clang 14 cannot capture them.
    const Module& module = *entry.first;
    const std::vector<Place>& places = entry.second;
    std::vector<SourcePlace> found;
    in_limited_process(
        limits, [&](int to) { send_places(module, places, to); },
        [&](int from) { found = receive_places(places.size(), from); });
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i].function.empty()) profile.places[places[i].site] = found[i];
    }
  }
}

}  // namespace halcyon
