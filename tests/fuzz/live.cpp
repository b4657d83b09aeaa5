// Bytes as a live record: first as a whole file, then as changes of a record that a rank has written, since few
// mutations would get past its header.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "libprofile/live/reader.hpp"
#include "libprofile/live/regulator.hpp"
#include "libprofile/live/writer.hpp"
#include "tests/fuzz/steering.hpp"

namespace {

using namespace halcyon;
namespace fs = std::filesystem;

// The directory of the records in fuzz::scratch(); it goes with the process.
struct Directory {
  std::string path = live::directory_of_records(fuzz::scratch());
  ~Directory() { fs::remove_all(path); }
};

// The record of two ranks, one of which has left it.
std::string good_record() {
  const std::string& root = fuzz::scratch();
  live::Writer first;
  live::Writer second;
  first.join({.record = "good", .job = "1", .command = "./app", .rank = 0, .ranks = 2}, root);
  second.join({.record = "good", .job = "1", .command = "./app", .rank = 1, .ranks = 2}, root);
  Measured<double> measured{};
  measured[index_of(Measure::duration)] = 1e6;
  const std::array<std::uint64_t, feature_count> counted{};
  for (live::Writer* rank : {&first, &second}) {
    for (std::size_t place = 0; place < 3; ++place) rank->add(measured, {}, place, "barrier@app+0x10");
    rank->publish({.last_end = 1, .last = measured, .counted = &counted});
  }
  second.leave();
  std::ifstream in(live::directory_of_records(root) + "/good", std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(in), {});
  first.leave();
  return content;
}

void look_at(const std::string& content) {
  static const Directory directory;
  const std::string file = directory.path + "/record";
  std::ofstream(file, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  chmod(file.c_str(), 0600);
  if (const Outcome<live::Reader> reader = live::Reader::open(file)) {
    if (const Outcome<live::JobNow> job = reader->read()) {
      for (const std::string* text : {&job->job, &job->host, &job->command}) {
        if (!text->empty()) fuzz::promise_one_line(*text);
      }
      fuzz::promise(job->here.size() <= content.size() / live::slot_bytes, "no more ranks than the file has room for");
      for (const live::RankNow& rank : job->here) {
        fuzz::promise(rank.rank < job->ranks && std::isfinite(rank.totals.seconds), "possible values");
        fuzz::promise(rank.kinds.size() <= live::most_kinds, "no more kinds than there are");
      }
      if (const Outcome<live::Regulator> regulator = live::Regulator::open(file)) regulator->passed();
    } else {
      fuzz::promise_one_line(job.failure().message);
    }
  }
  const Outcome<std::vector<std::string>> files = live::find_records(fuzz::scratch());
  fuzz::promise(static_cast<bool>(files), "the directory is read");
  fs::remove(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string good = good_record();
  look_at({reinterpret_cast<const char*>(data), size});
  std::string changed = good;
  for (fuzz::Steering steering(data, size); !steering.done();) {
    const std::size_t at = steering.value<std::uint32_t>() % (changed.size() - sizeof(double));
    const double real = steering.real();
    const std::int64_t integer = steering.integer();
    const bool is_real = steering.byte() % 2 == 0;
    std::memcpy(&changed[at], is_real ? static_cast<const void*>(&real) : &integer, sizeof real);
  }
  look_at(changed);
  return 0;
}
