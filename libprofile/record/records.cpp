#include "libprofile/record/records.hpp"

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "libprofile/interpose/signal_blocked.hpp"
#include "libprofile/record/run_names.hpp"
#include "libprofile/shared/setting_values.hpp"
#include "libprofile/system/launcher.hpp"
#include "libprofile/system/shortened.hpp"

namespace halcyon {

void Records::start(const ThisRun& run, bool with_injection) {
  constexpr std::size_t bytes_per_segment = bytes_before_maps(false) / SegmentBlock::capacity;
  const std::size_t most_segments = std::max<std::size_t>(run.settings.memory_bytes / bytes_per_segment, 1);
  segments_ = std::make_unique<SegmentStore>(most_segments, with_injection, &part_, !run.settings.keeps_profile);
  part_.reserve_descriptor();
  part_.leave_to(run.settings.keeper);
  keeps_profile_ = run.settings.keeps_profile;
  if (run.rank != 0) return;
  constexpr std::size_t longest_in_line = 200;
  without_records_ = "the program ended without MPI_Finalize: no profile is written (" +
                     shortened(run.settings.command, longest_in_line) + ")";
}

void Records::open_receipt(const Settings& settings) {
  is_launched_ = !settings.receipts.empty();
  for (const std::string& path : settings.receipts) {
    if (receipt_.open(path)) break;
  }
}

bool Records::tell(Left what, const char* path) {
  const SignalBlocked no_death_by_quota(SIGXFSZ);
  return !is_launched_ || receipt_.leave(what, path);
}

void Records::place_part(const ThisRun& run, const RunFacts& facts, const std::string& host) {
  tail_.reset(new (std::nothrow) std::byte[most_in_tail]);
  if (tail_ == nullptr) return;
  has_other_hosts_ = launcher::has_other_hosts(run.ranks);
  PartHeader header;
  header.run = run_number();
  header.rank = static_cast<std::uint32_t>(run.rank);
  header.ranks = static_cast<std::uint32_t>(run.ranks);
  header.with_injection = segments_->with_injection() ? 1 : 0;
  const std::string number = name_of_run();
  // The run's number replaces the time, since ranks do not start in the same second.
  const std::string output = expand_output(run.settings.output, run.ranks, number);
  // What is left for the ledger is found in one place.
  const std::array<std::string, 2> directories{parts_of(output), keeps_profile_ ? parts_of(second_place(output)) : ""};
  part_.place(directories[0], number, header, pack_facts(facts), most_in_tail, directories[1]);
  if (run.rank == 0) {
    unwritten_ =
        "the run did not reach MPI_Finalize, and what it recorded is lost: cannot write to " + part_.directory();
  }
  for (std::size_t i = 0; i < directories.size(); ++i) {
    if (!is_launched_) {
      last_lines_[i] = "the run did not reach MPI_Finalize; to make a profile of what it recorded: halcyon recover " +
                       directories[i];
    } else if (is_launched_ && !receipt_ && launcher::is_spokesman_of_host()) {
      last_lines_[i] =
          "the records of the ranks on " + host + " are in " + directories[i] +
          " there, which `halcyon run` does not see; to make a profile: halcyon recover, with the parts of "
          "all hosts";
    }
  }
}

bool Records::write(const RankFigures& figures) {
  const bool blocks_written = segments_->spill();
  const std::size_t size = write_tail(tail_.get(), figures, end_, *segments_, sites_.sites(), sites_.modules());
  const bool tail_written = part_.write_tail(tail_.get(), size);
  return part_.settle() && tail_written && blocks_written;
}

bool Records::spill(PartEnd end, const RankFigures& figures) {
  const bool has_something = segments_->size() != 0 || !keeps_profile_;  // a ledger has a row for each run
  if (tail_ == nullptr || !has_something) return false;
  // The first end is the reason: a handler may answer a signal by an end of another kind, and a launcher ends the ranks
  // that another one has asked to save.
  const bool has_gone_on = segments_->size() != saved_;
  if (end_ == part_is_running || has_gone_on) end_ = end;
  saved_ = segments_->size();
  part_.hurry(end != part_is_running);
  bool written = write(figures);
  if (!written && end != part_is_running && segments_->is_in_memory() && part_.go_to_second_place()) {
    segments_->forget_file();
    is_told_ = false;
    written = write(figures);
  }
  if (!is_told_ && part_.is_open()) {
    tell(has_other_hosts_ ? Left::parts_of_several_hosts : Left::parts, part_.directory().c_str());
  }
  is_told_ = part_.is_open();
  return written;
}

std::string_view Records::outcome_without_finalize() const {
  if (!part_.is_open()) return part_.writes() > 0 ? unwritten_ : without_records_;
  // Where a launcher ends the ranks of other hosts by this signal, the ranks of one host are enough.
  const bool is_for_another_host = part_.header().rank != 0 && has_other_hosts_ && end_ == SIGTERM;
  if (!is_launched_ && (is_for_another_host || !part_.is_first_to_tell())) return {};
  return last_line();
}

std::string Records::spill_failure() const {
  return "cannot write to " + part_.directory() + " (" + std::strerror(part_.error()) + ")";
}

}  // namespace halcyon
