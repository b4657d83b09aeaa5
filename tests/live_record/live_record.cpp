// live_record list: prints what all live records of this user hold, as JSON.
// live_record suspend FILE SECONDS: asks the ranks of a record to stop, waits until all of them stand still, promises
// to let them go after so long, and prints the boundary, the end of the promise (CLOCK_MONOTONIC, s), and how often it
// asked: a rank may stop for a moment at a question that came too late for another.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "libprofile/live/reader.hpp"
#include "libprofile/live/suspender.hpp"
#include "libprofile/system/nanoseconds.hpp"

namespace {

using namespace halcyon;
using nlohmann::ordered_json;

ordered_json shown(const live::RankNow& rank) {
  ordered_json kinds = ordered_json::array();
  for (const live::KindNow& kind : rank.kinds) {
    kinds.push_back({{"place", kind.place}, {"segments", kind.segments}, {"usual_seconds", kind.usual_seconds}});
  }
  constexpr const char* states[] = {"running", "suspended", "ended"};
  return {{"rank", rank.rank},
          {"process", rank.process},
          {"is_alive", rank.is_alive},
          {"state", states[static_cast<std::size_t>(rank.state)]},
          {"boundaries", rank.boundaries},
          {"segments", rank.totals.segments},
          {"seconds", rank.totals.seconds},
          {"usual_seconds", rank.totals.usual_seconds},
          {"suspensions", rank.totals.suspensions},
          {"last_place", rank.last_place},
          {"kinds", kinds}};
}

ordered_json shown(const std::string& file) {
  const Outcome<live::Reader> reader = live::Reader::open(file);
  if (!reader) return {{"file", file}, {"failure", reader.failure().message}};
  const Outcome<live::JobNow> job = reader->read();
  if (!job) return {{"file", file}, {"failure", job.failure().message}};
  ordered_json here = ordered_json::array();
  for (const live::RankNow& rank : job->here) here.push_back(shown(rank));
  return {
      {"file", file}, {"command", job->command}, {"ranks", job->ranks}, {"launcher", job->launcher}, {"here", here}};
}

int list() {
  const Outcome<std::vector<std::string>> files = live::find_records();
  if (!files) return std::fprintf(stderr, "%s\n", files.failure().message.c_str()), 1;
  ordered_json jobs = ordered_json::array();
  for (const std::string& file : *files) jobs.push_back(shown(file));
  std::puts(jobs.dump().c_str());
  return 0;
}

std::uint64_t in_seconds(double seconds) {
  return nanoseconds_of(CLOCK_MONOTONIC) + static_cast<std::uint64_t>(1e9 * seconds);
}

bool do_stand_still(const live::JobNow& job) {
  return std::all_of(job.here.begin(), job.here.end(),
                     [](const live::RankNow& rank) { return rank.state == live::State::suspended; });
}

/// How many boundaries a program passes before it hears a question differs a thousandfold from one moment to the next,
/// so the distance is found by doubling, and the promise is kept up until all ranks stand still.
int suspend(const std::string& file, double seconds) {
  constexpr std::chrono::seconds patience(60);
  const Outcome<live::Reader> reader = live::Reader::open(file);
  Outcome<live::Suspender> suspender = live::Suspender::open(file);
  if (!reader) return std::fprintf(stderr, "%s\n", reader.failure().message.c_str()), 1;
  if (!suspender) return std::fprintf(stderr, "%s\n", suspender.failure().message.c_str()), 1;
  std::uint64_t boundary = 0;
  int asked_times = 0;
  do {
    boundary = suspender->passed() + (std::uint64_t{2} << asked_times);
    ++asked_times;
  } while (!suspender->ask_to_stop(boundary, in_seconds(seconds)));
  const auto asked = std::chrono::steady_clock::now();
  for (Outcome<live::JobNow> now = reader->read(); !now || !do_stand_still(*now); now = reader->read()) {
    if (std::chrono::steady_clock::now() - asked > patience) return std::fputs("the ranks do not stop\n", stderr), 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    suspender->renew(in_seconds(seconds));
  }
  const std::uint64_t until = in_seconds(seconds);
  suspender->renew(until);
  std::printf("%llu %.9f %d\n", static_cast<unsigned long long>(boundary), 1e-9 * static_cast<double>(until),
              asked_times);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "list") return list();
  if (what == "suspend" && argc == 4) return suspend(argv[2], std::atof(argv[3]));
  return 2;
}
