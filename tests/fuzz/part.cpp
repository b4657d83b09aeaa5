// Bytes as parts of a run: as a whole file, as one whose beginning has the checksum that is right for it, and as a tail
// with its checksum and two blocks before it. No mutation would ever get past a checksum.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

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

void recover_from_bytes(const std::byte* bytes, std::size_t size) {
  const std::string whole = fuzz::scratch() + "/whole.part";
  std::ofstream(whole, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  recover_from(whole);
  std::filesystem::remove(whole);
}

// The beginning of a part of this version, with its checksum; the other numbers stay as they are.
void seal_beginning(std::vector<std::byte>& file) {
  if (file.size() < facts_of_part_at) return;
  Cursor out(file.data());
  out.put(part_magic);
  out.put(part_version);
  out.put(layout_of_part());
  constexpr std::size_t checksum_at = part_beginning_size - sizeof(std::uint64_t);
  Unpacker in(file);
  in.get<std::array<std::byte, sizeof part_magic + sizeof part_version>>();
  PartHeader header;
  for_each_number_of_header(header, [&in](auto& number) { in.get(number); });
  std::vector<std::byte> checked(file.begin(), file.begin() + checksum_at);
  const std::size_t facts = std::min<std::uint64_t>(header.facts_bytes, file.size() - facts_of_part_at);
  checked.insert(checked.end(), file.begin() + facts_of_part_at,
                 file.begin() + static_cast<std::ptrdiff_t>(facts_of_part_at + facts));
  Cursor(file.data() + checksum_at).put(checksum_of(checked.data(), checked.size(), 0));
}

// A block of these bytes, again and again, whose numbers of bins are possible.
OwnedBlock block_of(const std::uint8_t* data, std::size_t size) {
  OwnedBlock block = empty_block();
  auto* bytes = reinterpret_cast<std::uint8_t*>(block.get());
  for (std::size_t at = 0; size > 0 && at < sizeof(SegmentBlock); at += size) {
    std::copy_n(data, std::min(size, sizeof(SegmentBlock) - at), bytes + at);
  }
  for (std::uint16_t& count : block->bin_counts) count %= std::tuple_size_v<SlotMap> + 1;
  return block;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string directory = fuzz::scratch() + "/parts";
  std::vector<std::byte> file(size);
  std::copy_n(reinterpret_cast<const std::byte*>(data), size, file.data());
  recover_from_bytes(file.data(), size);
  seal_beginning(file);
  recover_from_bytes(file.data(), size);

  std::vector<std::byte> tail(tail_header_size + size);
  std::copy_n(reinterpret_cast<const std::byte*>(data), size, tail.data() + tail_header_size);
  {
    const RunFacts facts{.recorder_version = "0", .command = "./app", .counter = "cpu", .compute_units = "ns"};
    PartHeader header;
    header.run = 1;
    header.ranks = 2;
    PartFile part;
    part.place(directory, "1", header, pack_facts(facts), tail.size());
    const OwnedBlock block = block_of(data, size);
    bool is_written = true;
    for (std::size_t index = 0; index < 2; ++index) is_written = is_written && part.write_block(index, *block);
    if (is_written && part.write_tail(tail.data(), tail.size())) recover_from(part.path());
    part.remove();
  }
  fuzz::promise(std::filesystem::is_empty(fuzz::scratch()), "no part of a file stays behind");
  return 0;
}
