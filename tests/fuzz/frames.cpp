// Bytes as the frames of a profile, to both that receive them: who writes them into a file, and who checks what was
// read from one.
#include <filesystem>

#include "libprofile/format/contents.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/profile_writer.hpp"
#include "tests/fuzz/steering.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halcyon;
  const fuzz::MemoryFile frames({reinterpret_cast<const char*>(data), size});
  const Outcome<std::string> written = write_profile_from_frames(frames.descriptor(), fuzz::scratch() + "/run.h5");
  if (written) {
    std::filesystem::remove(*written);
  } else {
    fuzz::promise_one_line(written.failure().message);
  }
  fuzz::promise(std::filesystem::is_empty(fuzz::scratch()), "no part of a file stays behind");

  frames.rewind();
  Outcome<Contents> contents = receive_contents(frames.descriptor(), most_unpacked_bytes(size), "run.h5");
  if (!contents) return 0;
  const Outcome<Profile> profile = check_profile(std::move(*contents), "run.h5");
  if (!profile) fuzz::promise_one_line(profile.failure().message);
  return 0;
}
