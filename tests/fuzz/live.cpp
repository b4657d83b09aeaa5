// Bytes as a live record, and as what a reader on another host has published of one: first as a whole file, then as
// changes of a good file, since few mutations would get past its header.
#include <cmath>
#include <filesystem>

#include "libprofile/live/publication.hpp"
#include "libprofile/live/reader.hpp"
#include "libprofile/live/suspender.hpp"
#include "tests/fuzz/live_files.hpp"
#include "tests/fuzz/steering.hpp"

namespace {

using namespace halcyon;
namespace fs = std::filesystem;

void check(const live::JobNow& job, std::size_t most_ranks) {
  fuzz::promise(job.here.size() <= most_ranks, "no more ranks than the file has room for");
  for (const live::RankNow& rank : job.here) {
    fuzz::promise(rank.rank < job.ranks && std::isfinite(rank.totals.seconds), "possible values");
    fuzz::promise(rank.kinds.size() <= live::most_kinds, "no more kinds than there are");
  }
}

void look_at(const std::string& content) {
  static const fuzz::RecordDirectory directory;
  const std::string file = directory.path + "/record";
  fuzz::write_private(file, content);
  if (const Outcome<live::Reader> reader = live::Reader::open(file)) {
    if (const Outcome<live::JobNow> job = reader->read()) {
      check(*job, content.size() / live::slot_bytes);
      if (const Outcome<live::Suspender> suspender = live::Suspender::open(file)) suspender->passed();
    } else {
      fuzz::promise_one_line(job.failure().message);
    }
  }
  const Outcome<std::vector<std::string>> files = live::find_records(fuzz::scratch());
  fuzz::promise(static_cast<bool>(files), "the directory is read");
  fs::remove(file);
}

void look_at_publication(const std::string& content) {
  static const fuzz::PublicationDirectory directory;
  fuzz::write_private(directory.path + "/" + directory.name, content);
  if (const Outcome<live::PublishedJob> job = live::read_publication(directory.path, directory.name)) {
    constexpr std::size_t least = sizeof(live::PublishedRank) + offsetof(live::Slot, kinds);
    check(job->job, content.size() / least);
  } else {
    fuzz::promise_one_line(job.failure().message);
  }
}

std::string changed(std::string good, const std::uint8_t* data, std::size_t size) {
  for (fuzz::Steering steering(data, size); !steering.done();) {
    fuzz::put_anything(good, steering.value<std::uint32_t>(), steering);
  }
  return good;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string good = fuzz::good_record({0, 1}, 2, 3);
  static const std::string good_publication = fuzz::good_publication(good);
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  look_at(bytes);
  look_at(changed(good, data, size));
  look_at_publication(bytes);
  look_at_publication(changed(good_publication, data, size));
  return 0;
}
