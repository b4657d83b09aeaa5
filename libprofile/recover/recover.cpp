#include "libprofile/recover/recover.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "libprofile/format/contents.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/profile_writer.hpp"
#include "libprofile/format/run_facts.hpp"
#include "libprofile/format/send_profile.hpp"
#include "libprofile/merge/merger.hpp"
#include "libprofile/record/store/tail.hpp"

namespace halcyon {
namespace {

namespace fs = std::filesystem;

struct Part {
  PartFile file;
  RunFacts facts;
  ReadTail tail;
};

// Null if the rank was killed after it had created its part, before it wrote anything into it.
std::unique_ptr<Part> read_part(const std::string& path) {
  auto part = std::make_unique<Part>();
  PartFile::open_for_reading(path, part->file);
  const std::vector<std::byte> tail = part->file.read_tail();
  if (tail.empty()) return nullptr;
  try {
    part->facts = unpack_facts(part->file.read_facts());
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

// The first of these states that any rank recorded. A rank that was killed outright could not record it, and brought
// the others down.
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

// Number of segments, from the first, that the same kind of boundary ended on all ranks.
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

// `counter`: the counter of all ranks.
Profile merge(const std::vector<std::unique_ptr<Part>>& parts, std::string_view counter, std::uint64_t segments) {
  std::vector<RankRecords> records;
  std::vector<std::uint32_t> ranks;
  for (const auto& part : parts) {
    const double nanoseconds_per_tick = part->tail.figures.nanoseconds_per_tick;
    records.push_back({part->tail.segments.get(), part->tail.sites, nanoseconds_per_tick,
                       compute_scale(counter, nanoseconds_per_tick)});
    ranks.push_back(part->file.header().rank);
  }
  const Alone alone;
  const bool with_injection = parts.front()->tail.segments->with_injection();
  const ProgramNames names = merge_names(alone, records);
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
  return merger.finish(alone);
}

// The figures of all ranks, including the lost ones. Throws std::runtime_error if parts are impossible, or not of one
// run.
std::vector<RankFigures> figures_of(const std::vector<std::unique_ptr<Part>>& parts, const std::string& first_file) {
  const PartHeader& header = parts.front()->file.header();
  std::vector<RankFigures> figures(header.ranks, lost_rank());
  for (const auto& part : parts) {
    const PartHeader& other = part->file.header();
    const RankFigures& own = part->tail.figures;
    if (other.ranks != header.ranks || other.with_injection != header.with_injection) {
      throw std::runtime_error(first_file + " and others are not parts of one run");
    }
    if (!(own.nanoseconds_per_tick > 0.0) || !std::isfinite(own.nanoseconds_per_tick) || !(own.run_time >= 0.0)) {
      throw std::runtime_error(first_file + " or another part of its run is corrupted: impossible figures");
    }
    figures[other.rank] = own;
  }
  return figures;
}

// What is missing, in a sentence; empty if nothing is. `damaged`: why a part cannot be read.
std::string missing(const std::vector<std::unique_ptr<Part>>& parts, const std::vector<RankFigures>& figures,
                    std::uint64_t segments, const std::string& damaged) {
  std::string text;
  const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  std::vector<std::uint32_t> lost;
  for (std::uint32_t rank = 0; rank < figures.size(); ++rank) {
    if (std::isnan(figures[rank].run_time)) lost.push_back(rank);
  }
  std::uint64_t longest = 0;
  for (const auto& part : parts) longest = std::max<std::uint64_t>(longest, part->tail.segments->size());
  if (!lost.empty()) add(text_of(lost) + " of " + std::to_string(figures.size()) + " left nothing");
  if (!damaged.empty()) add(damaged);
  if (longest > segments) add(std::to_string(longest - segments) + " more segments were saved by some ranks only");
  return text;
}

Profile profile_of(const std::vector<std::unique_ptr<Part>>& parts, const std::string& first_file,
                   const std::string& damaged) {
  const std::vector<RankFigures> figures = figures_of(parts, first_file);
  RunFacts facts = parts.front()->facts;
  const auto counts_alike = [&facts](const auto& part) { return part->facts.counter == facts.counter; };
  if (!std::all_of(parts.begin(), parts.end(), counts_alike)) facts.counter = "none";

  const std::uint64_t segments = common_segments(parts);
  Profile profile = segments > 0 ? merge(parts, facts.counter, segments) : Profile{};
  set_facts(facts, profile);
  set_rank_figures(figures, profile);
  profile.exit_state = exit_state_of(parts, parts.size() == figures.size());
  profile.incomplete = missing(parts, figures, segments, damaged);
  for (const auto& part : parts) {
    profile.dropped_segments = std::max(profile.dropped_segments, part->tail.figures.dropped_segments);
  }
  if (segments > 0) profile.modules = parts.front()->tail.modules;
  return profile;
}

// A damaged part may hold anything, so the profile passes the reader's checks before it is written.
Outcome<Profile> checked(const Profile& profile, const std::string& path) {
  ContentsSink contents;
  contents.attribute("schema_version", std::int64_t{newest_schema_version});
  send_profile(profile, contents);
  return check_profile(contents.take(), path);
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
        if (files.empty()) return Failure{path + " contains no parts of a run"};
      }
      const bool is_alone = files.size() == 1;
      for (const std::string& file : files) {
        // A rank that was killed while it created its part left an empty file; the other parts are still wanted.
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
  std::string damaged;  // the first error
  for (const std::string& file : run.files) {
    try {
      if (auto part = read_part(file)) parts.push_back(std::move(part));
    } catch (const std::runtime_error& error) {
      if (damaged.empty()) damaged = error.what();
    }
  }
  if (parts.empty() && !damaged.empty()) return Failure{damaged};
  if (parts.empty()) return Failure{run.files.front() + ": the run ended before anything was saved"};
  const Outcome<Profile> profile = checked(profile_of(parts, run.files.front(), damaged), run.files.front());
  if (!profile) {
    return Failure{run.files.front() + " or another part of its run is corrupted: " + profile.failure().message};
  }
  const Outcome<std::string> written = write_profile(*profile, output);
  if (!written) return written.failure();
  return Recovered{.profile = *written,
                   .segments = profile->segments,
                   .ranks = profile->ranks,
                   .ranks_found = static_cast<int>(parts.size()),
                   .exit_state = profile->exit_state,
                   .incomplete = profile->incomplete};
} catch (const std::exception& error) {
  return Failure{error.what()};
}

}  // namespace halcyon
