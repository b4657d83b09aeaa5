// Bytes as parts of a run: first as a whole file, then as a tail under the checksum that is right for it, since no
// mutation would ever get past one.
#include <filesystem>
#include <fstream>

#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/run_facts.hpp"
#include "libprofile/record/store/tail.hpp"
#include "libprofile/recover/recover.hpp"
#include "tests/fuzz/steering.hpp"

namespace {

using namespace halcyon;

void recover_from(const std::string& file) {
  const std::string output = fuzz::scratch() + "/run.h5";
  const Outcome<std::vector<RunParts>> runs = find_parts({file});
  if (!runs) return fuzz::promise_one_line(runs.failure().message);
  const Outcome<Recovered> recovered = recover(runs->front(), output);
  if (!recovered) return fuzz::promise_one_line(recovered.failure().message);
  const Outcome<Profile> profile = read_profile(recovered->profile);
  fuzz::promise(static_cast<bool>(profile), "what is recovered is a profile", profile ? "" : profile.failure().message);
  std::filesystem::remove(recovered->profile);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string directory = fuzz::scratch() + "/parts";
  const std::string whole = fuzz::scratch() + "/whole.part";
  std::ofstream(whole, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  recover_from(whole);
  std::filesystem::remove(whole);

  std::vector<std::byte> tail(tail_header_size + size);
  std::memcpy(tail.data() + tail_header_size, data, size);
  {
    const RunFacts facts{.recorder_version = "0", .command = "./app", .counter = "cpu", .compute_units = "ns"};
    PartHeader header;
    header.run = 1;
    header.ranks = 2;
    PartFile part;
    part.place(directory, "0.part", header, pack_facts(facts), tail.size());
    if (part.write_tail(tail.data(), tail.size())) recover_from(directory + "/0.part");
    part.remove();
  }
  fuzz::promise(std::filesystem::is_empty(fuzz::scratch()), "no part of a file stays behind");
  return 0;
}
