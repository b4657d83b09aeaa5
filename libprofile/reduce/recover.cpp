#include "libprofile/reduce/recover.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/profile_writer.hpp"
#include "libprofile/record/packing.hpp"
#include "libprofile/record/signal_blocked.hpp"
#include "libprofile/record/tail.hpp"
#include "libprofile/reduce/outgoing.hpp"

namespace halcyon {
namespace {

namespace fs = std::filesystem;

struct Part {
  PartFile file;
  RunFacts facts;
  ReadTail tail;
};

RunFacts facts_of(const PartFile& file) {
  const std::vector<std::byte> packed = file.read_facts();
  Unpacker in(packed);
  RunFacts facts;
  for (std::string* text : {&facts.recorder_version, &facts.command, &facts.mpi, &facts.counter, &facts.compute_units,
                            &facts.start_time, &facts.inject}) {
    *text = in.get_text();
  }
  if (!in.at_end()) facts.boundary = in.get_text();  // older parts end before
  return facts;
}

// Null where a rank has created its part, and was killed before anything was in it.
std::unique_ptr<Part> read_part(const std::string& path) {
  auto part = std::make_unique<Part>();
  PartFile::open_for_reading(path, part->file);
  const std::vector<std::byte> tail = part->file.read_tail();
  if (tail.empty()) return nullptr;
  try {
    part->facts = facts_of(part->file);
    part->tail = read_tail(tail, part->file);
    part->tail.segments->settle();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + " is corrupted: " + error.what());
  }
  return part;
}

std::string text_of(const std::vector<std::uint32_t>& ranks) {
  std::string text = ranks.size() > 1 ? "ranks " : "rank ";
  constexpr std::size_t most_named = 8;
  for (std::size_t i = 0; i < std::min(ranks.size(), most_named); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  }
  if (ranks.size() > most_named) text += " and " + std::to_string(ranks.size() - most_named) + " more";
  return text;
}

// The first of these that any rank tells: who was killed outright brought the others down, and cannot tell.
std::string exit_state_of(const std::vector<std::unique_ptr<Part>>& parts, bool all_there) {
  std::set<int> ends;
  for (const auto& part : parts) ends.insert(part->tail.end);
  if (ends.count(part_was_aborted) != 0) return "aborted";
  if (ends.count(part_has_exited) != 0) return "exited";
  if (ends.count(part_is_running) != 0 || !all_there) return "killed";
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU}) {
    if (ends.count(signal) != 0) return "signal " + std::to_string(signal);
  }
  return "signal " + std::to_string(*ends.begin());
}

// Segments from the start in which the same kind of boundary ended on all ranks.
std::uint64_t common_segments(const std::vector<std::unique_ptr<Part>>& parts) {
  std::uint64_t common = std::numeric_limits<std::uint64_t>::max();
  for (const auto& part : parts) common = std::min<std::uint64_t>(common, part->tail.segments->size());
  const auto kind = [](const Part& part, std::uint64_t segment) {
    const std::size_t site = part.tail.segments->get(segment).site;
    const std::string_view text = site < part.tail.sites.size() ? part.tail.sites[site] : std::string_view();
    return text.substr(0, text.find('@'));
  };
  for (std::uint64_t segment = 0; segment < common; ++segment) {
    for (std::size_t part = 1; part < parts.size(); ++part) {
      if (kind(*parts[part], segment) != kind(*parts.front(), segment)) return segment;
    }
  }
  return common;
}

OwnedSegments merge(const World& world, const std::vector<std::unique_ptr<Part>>& parts, std::uint64_t segments) {
  std::vector<RankRecords> records;
  std::vector<std::uint32_t> ranks;
  for (const auto& part : parts) {
    const double nanoseconds_per_tick = part->tail.figures.nanoseconds_per_tick;
    records.push_back({part->tail.segments.get(), part->tail.sites, nanoseconds_per_tick,
                       compute_scale(part->facts.counter, nanoseconds_per_tick)});
    ranks.push_back(part->file.header().rank);
  }
  const bool with_injection = parts.front()->tail.segments->with_injection();
  const ProgramNames names = merge_names(world, records);
  const RowLayout layout(with_injection, names.active.size());
  std::vector<std::unique_ptr<RowWriter>> writers;
  for (const RankRecords& rank : records) writers.push_back(std::make_unique<RowWriter>(names, rank, layout));
  Merger merger(names, std::move(ranks), with_injection, segments);
  std::vector<std::byte> rows(layout.bytes() * parts.size());
  for (std::uint64_t segment = 0; segment < segments; ++segment) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      writers[part]->write(segment, rows.data() + part * layout.bytes());
    }
    merger.add(rows.data(), layout.bytes(), layout);
  }
  return merger.finish(world);
}

// What the file's writer reads in a thread, this one sends.
Outcome<std::string> write(const std::string& output, const RunFacts& facts, const std::vector<RankFigures>& figures,
                           const RunEnd& end, const OwnedSegments& owned, const std::vector<Module>& modules,
                           bool with_injection) {
  int ends[2];
  if (pipe(ends) != 0) return Failure{std::string("cannot open a pipe: ") + std::strerror(errno)};
  Outcome<std::string> written = Failure{"nothing was written"};
  const SignalBlocked no_sigpipe(SIGPIPE);
  std::thread writer([&] {
    written = write_profile_from_frames(ends[0], output);
    close(ends[0]);
  });
  FrameWriter frames(ends[1]);
  send_facts(facts, figures, end, frames);
  if (end.segments > 0) {
    send_bins(owned, modules, frames);
    for (const OutgoingColumn& column : columns_of(owned, with_injection)) {
      frames.column_bytes(column.type, column.name, column.data, end.segments * size_of(column.type));
    }
  }
  frames.end();
  close(ends[1]);
  writer.join();
  return written;
}

}  // namespace

Outcome<std::vector<RunParts>> find_parts(const std::vector<std::string>& paths) {
  std::map<std::uint64_t, std::map<std::uint32_t, std::string>> runs;
  try {
    for (const std::string& path : paths) {
      std::vector<std::string> files{path};
      if (fs::is_directory(path)) {
        files.clear();
        for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
          if (entry.path().extension() == ".part") files.push_back(entry.path());
        }
        if (files.empty()) return Failure{path + " has no parts of a run in it"};
      }
      const bool is_alone = files.size() == 1;
      for (const std::string& file : files) {
        // Of a rank that was killed while it made its part there is nothing, and the others are wanted.
        if (!is_alone && fs::file_size(file) == 0) continue;
        PartFile part;
        PartFile::open_for_reading(file, part);
        runs[part.header().run].emplace(part.header().rank, file);
      }
    }
  } catch (const std::exception& error) {
    return Failure{error.what()};
  }
  std::vector<RunParts> found;
  for (const auto& [run, files] : runs) {
    found.push_back({run, {}});
    for (const auto& [rank, file] : files) found.back().files.push_back(file);
  }
  return found;
}

Outcome<Recovered> recover(const RunParts& run, const std::string& output) try {
  std::vector<std::unique_ptr<Part>> parts;
  std::string damaged;  // the first that is
  for (const std::string& file : run.files) {
    try {
      if (auto part = read_part(file)) parts.push_back(std::move(part));
    } catch (const std::runtime_error& error) {
      if (damaged.empty()) damaged = error.what();
    }
  }
  if (parts.empty() && !damaged.empty()) return Failure{damaged};
  if (parts.empty()) return Failure{run.files.front() + ": the run ended before anything of it was spilled"};
  const PartHeader& header = parts.front()->file.header();
  std::vector<RankFigures> figures(header.ranks, lost_rank());
  std::set<std::string> counters;
  for (const auto& part : parts) {
    const PartHeader& other = part->file.header();
    if (other.ranks != header.ranks || other.with_injection != header.with_injection) {
      return Failure{run.files.front() + " and others are not parts of one run"};
    }
    if (!(part->tail.figures.nanoseconds_per_tick > 0.0) || !std::isfinite(part->tail.figures.nanoseconds_per_tick) ||
        !(part->tail.figures.run_time >= 0.0)) {
      return Failure{run.files.front() + " or another part of its run is corrupted: impossible figures"};
    }
    figures[other.rank] = part->tail.figures;
    counters.insert(part->facts.counter);
  }
  RunFacts facts = parts.front()->facts;
  if (counters.size() > 1) {
    facts.counter = "none";
    for (const auto& part : parts) part->facts.counter = "none";
  }

  RunEnd end{.exit_state = exit_state_of(parts, parts.size() == header.ranks), .segments = common_segments(parts)};
  for (const auto& part : parts) end.dropped = std::max(end.dropped, part->tail.figures.dropped_segments);
  std::vector<std::uint32_t> lost;
  for (std::uint32_t rank = 0; rank < header.ranks; ++rank) {
    if (std::isnan(figures[rank].run_time)) lost.push_back(rank);
  }
  const auto add = [&end](const std::string& what) { end.incomplete += (end.incomplete.empty() ? "" : "; ") + what; };
  std::uint64_t longest = 0;
  for (const auto& part : parts) longest = std::max<std::uint64_t>(longest, part->tail.segments->size());
  if (!lost.empty()) add(text_of(lost) + " of " + std::to_string(header.ranks) + " left nothing");
  if (!damaged.empty()) add(damaged);
  if (longest > end.segments) {
    add(std::to_string(longest - end.segments) + " more segments are known of some ranks only");
  }

  const World alone(0, 1);
  const OwnedSegments owned = end.segments > 0 ? merge(alone, parts, end.segments) : OwnedSegments{};
  const Outcome<std::string> written = 
      write(output, facts, figures, end, owned, parts.front()->tail.modules, header.with_injection != 0);
  if (!written) return written.failure();
  // What a damaged part may hold, the checks of the reader know best.
  if (const Outcome<Profile> readable = read_profile(*written); !readable) {
    fs::remove(*written);
    return Failure{run.files.front() + " or another part of its run is corrupted: " + readable.failure().message};
  }
  return Recovered{.profile = *written,
                   .segments = end.segments,
                   .ranks = static_cast<int>(header.ranks),
                   .ranks_found = static_cast<int>(parts.size()),
                   .exit_state = end.exit_state,
                   .incomplete = end.incomplete};
} catch (const std::exception& error) {
  return Failure{error.what()};
}

}  // namespace halcyon
