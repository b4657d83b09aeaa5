#include "libprofile/recover/recover.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
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
#include "libprofile/system/plural.hpp"

namespace halcyon {
namespace {

namespace fs = std::filesystem;

struct Part {
  PartFile file;
  RunFacts facts;
  ReadTail tail;
};

// What is known of a part after it has been read once.
struct CheckedPart {
  PartPlace place;
  std::size_t blocks = 0;     // closed ones that are whole, from the first
  bool is_cut = false;        // further ones are damaged, and what came after them is not used
  std::uint64_t written = 0;  // segments, whole and damaged

  std::uint64_t whole_segments() const { return blocks * SegmentStore::block_size; }
};

// Null if the rank was killed after it had created its part, before it wrote anything into it.
std::unique_ptr<Part> read_part(const std::string& path, std::uint32_t rank) {
  auto part = std::make_unique<Part>();
  PartFile::open_for_reading(path, rank, part->file);
  const std::vector<std::byte> tail = part->file.read_tail();
  if (tail.empty()) {
    if (!part->file.has_tail()) return nullptr;
    throw std::runtime_error(path + " is corrupted: it has no whole tail");
  }
  try {
    part->facts = unpack_facts(part->file.read_facts());
    part->tail = read_tail(tail, part->file);
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
std::string exit_state_of(std::set<int> ends, bool all_there, bool all_kept) {
  if (all_kept && ends == std::set<int>{part_has_finalized}) return "finalized";
  ends.erase(part_of_others);
  if (ends.count(part_was_aborted) != 0) return "aborted";
  if (ends.count(part_has_exited) != 0) return "exited";
  if (ends.empty() || ends.count(part_is_running) != 0 || ends.count(part_has_finalized) != 0 || !all_there) {
    return "killed";
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU}) {
    if (ends.count(signal) != 0) return "signal " + std::to_string(signal);
  }
  return "signal " + std::to_string(*ends.begin());
}

// The segments, from the first, that the same kind of boundary ended on all ranks.
class CommonSegments {
 public:
  /// Called for each rank: then its segments in order, block by block.
  void begin_rank(const std::vector<std::string>& sites) {
    kind_of_site_.clear();
    for (const std::string& site : sites) {
      const std::string kind = site.substr(0, site.find('@'));
      kind_of_site_.push_back(numbers_.try_emplace(kind, static_cast<std::uint16_t>(numbers_.size())).first->second);
    }
    met_ = 0;
    differs_ = false;
    if (is_first_) kinds_.clear();
  }
  void add(const SegmentBlock& block, std::size_t segments) {
    for (std::size_t i = 0; i < segments && !differs_; ++i, ++met_) {
      const std::uint8_t site = block.sites[i];
      const std::uint16_t kind = site < kind_of_site_.size() ? kind_of_site_[site] : unknown;
      if (is_first_) {
        kinds_.push_back(kind);
      } else {
        differs_ = met_ == kinds_.size() || kinds_[met_] != kind;
        if (differs_) break;
      }
    }
  }
  void end_rank() {
    kinds_.resize(std::min(kinds_.size(), met_));
    is_first_ = false;
  }
  std::uint64_t count() const { return kinds_.size(); }

 private:
  static constexpr std::uint16_t unknown = 0xffff;
  std::map<std::string, std::uint16_t> numbers_;
  std::vector<std::uint16_t> kind_of_site_;
  std::vector<std::uint16_t> kinds_;  // of the segments that all ranks so far have
  std::size_t met_ = 0;               // segments of this rank
  bool differs_ = false;
  bool is_first_ = true;
};

// Restores the segments of a part that has been read before.
void cut(Part& part, const CheckedPart& known) {
  if (known.is_cut) part.tail.segments = first_blocks(part.file, known.blocks);
}

// The parts of a run after the first reading, which goes from rank to rank.
class Overview {
 public:
  explicit Overview(const RunParts& run) : run_(run) {
    for (const std::string& why : run.unreadable) add_damage(why);
  }

  void read(const PartPlace& place) try {
    const auto part = read_part(file_of(place), place.rank);
    if (part == nullptr) return;
    const PartHeader& header = part->file.header();
    const RankFigures& figures = part->tail.figures;
    if (found_ == 0) {
      ranks_ = header.ranks;
      with_injection_ = header.with_injection != 0;
      facts_ = part->facts;
      modules_ = part->tail.modules;
    }
    if (header.ranks != ranks_ || (header.with_injection != 0) != with_injection_) {
      throw std::runtime_error(file_of(place) + " and others are not parts of one run");
    }
    if (!(figures.nanoseconds_per_tick > 0.0) || !std::isfinite(figures.nanoseconds_per_tick) ||
        !(figures.run_time >= 0.0)) {
      throw std::runtime_error(file_of(place) + " is corrupted: impossible figures");
    }
    counts_alike_ = counts_alike_ && part->facts.counter == facts_.counter;
    const CheckedPart known = check_blocks(*part, place);
    if (known.is_cut) {
      damaged_.push_back(known);
    } else {
      take(*part, known);
    }
    ++found_;
    add_lost_before(place.rank);
    columns_.add(figures);
    ends_.insert(part->tail.end);
    dropped_ = std::max(dropped_, figures.dropped_segments);
  } catch (const std::runtime_error& error) {
    add_damage(error.what());
  }

  /// After all parts have been read: takes the damaged ones whose whole blocks make the profile larger.
  void choose_among_damaged();

  std::size_t ranks_found() const { return found_; }
  const std::string& damage() const { return damage_; }

  /// The segments that the chosen parts have.
  Profile merge(const RecoverProgress& progress);

  /// Everything else.
  void put_into(Profile& profile) {
    RunFacts facts = facts_;
    if (!counts_alike_) facts.counter = "none";
    add_lost_before(ranks_);
    static_cast<RunFacts&>(profile) = facts;
    columns_.put_into(profile);
    profile.incomplete = missing(profile.segments);
    profile.exit_state = exit_state_of(ends_, found_ == ranks_, profile.incomplete.empty());
    profile.dropped_segments = dropped_;
    if (profile.segments > 0) profile.modules = modules_;
  }

 private:
  const std::string& file_of(const PartPlace& place) const { return run_.files[place.file]; }

  [[noreturn]] void throw_changed(const PartPlace& place) const {
    throw std::runtime_error(file_of(place) + " changes while it is read");
  }

  static RankRecords records_of(const Part& part, std::string_view counter) {
    const double nanoseconds_per_tick = part.tail.figures.nanoseconds_per_tick;
    return {part.tail.segments.get(), part.tail.sites, nanoseconds_per_tick,
            compute_scale(counter, nanoseconds_per_tick)};
  }

  // Reads blocks of a part, until one is damaged.
  std::size_t read_blocks(Part& part, std::size_t most) {
    if (block_ == nullptr) block_ = empty_block();
    if (block_ == nullptr) throw std::bad_alloc();
    common_.begin_rank(part.tail.sites);
    std::size_t whole = 0;
    for (; whole < most && part.file.read_block(whole, *block_); ++whole) {
      common_.add(*block_, SegmentStore::block_size);
    }
    return whole;
  }

  // Reads all blocks of a part once.
  CheckedPart check_blocks(Part& part, const PartPlace& place) {
    const SegmentStore& segments = *part.tail.segments;
    CheckedPart known{.place = place, .written = part.tail.written_segments};
    known.blocks = read_blocks(part, segments.in_file());
    known.is_cut = known.blocks < segments.in_file() || segments.size() < known.written;
    if (!known.is_cut) common_.add(segments.open_block(), segments.open_size());
    return known;
  }

  // The segments that were just read are in the profile.
  void take(const Part& part, const CheckedPart& known) {
    common_.end_rank();
    names_.add(records_of(part, facts_.counter));
    known_.push_back(known);
    longest_ = std::max<std::uint64_t>(longest_, part.tail.segments->size());
  }

  void add_damaged_block(const CheckedPart& known, bool is_taken) {
    const std::string lost = is_taken ? "it lacks " + plural(known.written - known.whole_segments(), "segment")
                                      : "its segments are left out";
    add_damage("block " + std::to_string(known.blocks) + " of rank " + std::to_string(known.place.rank) + " in " +
               file_of(known.place) + " is damaged, so " + lost);
  }

  void add_damage(const std::string& what) {
    if (damages_++ == 0) damage_ = what;
  }

  void add_lost_before(std::uint32_t rank) {
    while (columns_.ranks() < rank) {
      lost_.push_back(static_cast<std::uint32_t>(columns_.ranks()));
      columns_.add(lost_rank());
    }
  }

  // What is missing, in a sentence; empty if nothing is.
  std::string missing(std::uint64_t segments) const {
    std::string text;
    const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
    if (!lost_.empty()) add(text_of(lost_) + " of " + std::to_string(ranks_) + " left nothing");
    if (damages_ > 0) add(damage_);
    if (damages_ > 1) add(plural(damages_ - 1, "more damaged part"));
    if (longest_ > segments) add("only some ranks saved " + plural(longest_ - segments, "more segment"));
    return text;
  }

  Peers compare_known_ranks(std::uint64_t segments, std::string_view counter);

  // A part whose segments are in the profile, settled.
  std::unique_ptr<Part> read_again(const CheckedPart& known) const {
    auto part = read_part(file_of(known.place), known.place.rank);
    if (part == nullptr) throw_changed(known.place);
    cut(*part, known);
    part->tail.segments->settle();
    return part;
  }

  const RunParts& run_;
  std::size_t found_ = 0;             // parts that were read
  std::vector<CheckedPart> known_;    // whose segments are in the profile
  std::vector<CheckedPart> damaged_;  // others
  std::uint32_t ranks_ = 0;
  bool with_injection_ = false;
  bool counts_alike_ = true;
  RunFacts facts_;  // of the first part
  std::vector<Module> modules_;
  RankColumns columns_;
  RankSections sections_;
  OwnNames names_;
  CommonSegments common_;
  std::set<int> ends_;
  std::uint64_t longest_ = 0;
  std::uint64_t dropped_ = 0;
  std::vector<std::uint32_t> lost_;
  std::string damage_;  // the first
  std::size_t damages_ = 0;
  OwnedBlock block_;
};

void Overview::choose_among_damaged() {
  std::stable_sort(damaged_.begin(), damaged_.end(), [](auto& one, auto& other) { return one.blocks > other.blocks; });
  const std::uint64_t undamaged = known_.empty() ? std::numeric_limits<std::uint64_t>::max() : common_.count();
  std::size_t taken = 0;
  std::uint64_t most = known_.empty() ? 0 : undamaged * known_.size();
  for (std::size_t i = 0; i < damaged_.size(); ++i) {
    const std::uint64_t rows = std::min(undamaged, damaged_[i].whole_segments()) * (known_.size() + i + 1);
    if (rows <= most) continue;
    most = rows;
    taken = i + 1;
  }
  for (std::size_t i = 0; i < damaged_.size(); ++i) {
    const CheckedPart& known = damaged_[i];
    add_damaged_block(known, i < taken);
    if (i >= taken) continue;
    const auto part = read_part(file_of(known.place), known.place.rank);
    if (part == nullptr || read_blocks(*part, known.blocks) < known.blocks) throw_changed(known.place);
    cut(*part, known);
    take(*part, known);
  }
  std::sort(known_.begin(), known_.end(), [](auto& one, auto& other) { return one.place.rank < other.place.rank; });
}

Profile Overview::merge(const RecoverProgress& progress) {
  const std::uint64_t segments = common_.count();
  if (segments == 0) return {};
  const std::string_view counter = counts_alike_ ? std::string_view(facts_.counter) : "none";
  if (!counts_alike_) names_.drop_compute();
  const Alone alone;
  const ProgramNames names = merge_names(alone, names_);
  const RowLayout layout(with_injection_, names.active.size());
  std::vector<std::uint32_t> ranks;
  for (const CheckedPart& known : known_) ranks.push_back(known.place.rank);
  const Peers peers = compare_known_ranks(segments, counter);
  // All parts in turn give their rows of as many segments as fit into memory.
  constexpr std::size_t most_bytes_open = std::size_t{64} << 20;
  const std::size_t blocks_open = std::max<std::size_t>(
      1, most_bytes_open / Merger::bytes_of_open_segment(ranks.size()) / SegmentStore::block_size);
  const std::uint64_t most_open = std::min<std::uint64_t>(segments, blocks_open * SegmentStore::block_size);
  Merger merger(names, std::move(ranks), peers, with_injection_, segments, most_open);
  std::vector<std::byte> row(layout.bytes());
  for (std::uint64_t begin = 0; begin < segments; begin += most_open) {
    const std::uint64_t end = std::min(begin + most_open, segments);
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const auto part = read_again(known_[i]);
      const RankRecords records = records_of(*part, counter);
      const RowWriter writer(names, records, layout);
      for (std::uint64_t segment = begin; segment < end; ++segment) {
        writer.write(segment, row.data());
        merger.add(segment - begin, i, row.data(), layout);
      }
      const double in_batch = static_cast<double>(i + 1) / static_cast<double>(known_.size());
      if (progress) {
        progress((static_cast<double>(begin) + in_batch * static_cast<double>(end - begin)) /
                 static_cast<double>(segments));
      }
    }
    merger.close(end - begin);
  }
  Profile merged = merger.finish(alone);
  merged.sections = std::move(sections_);
  return merged;
}

Peers Overview::compare_known_ranks(std::uint64_t segments, std::string_view counter) {
  std::vector<SiteSums> of_ranks;
  for (const CheckedPart& known : known_) {
    const auto part = read_again(known);
    of_ranks.push_back(sums_by_site(records_of(*part, counter), segments));
  }
  const Peers peers = compare_ranks(of_ranks, segments, sections_);
  // Those without a part are unknown.
  const std::size_t count = sections_.count();
  for (const auto column : RankSections::columns) {
    std::vector<float>& of_known = sections_.*column;
    std::vector<float> all(ranks_ * count, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < known_.size(); ++i) {
      std::copy_n(of_known.begin() + static_cast<std::ptrdiff_t>(i * count), count,
                  all.begin() + static_cast<std::ptrdiff_t>(known_[i].place.rank * count));
    }
    of_known = std::move(all);
  }
  return peers;
}

// A damaged part may hold anything, so the profile passes the reader's checks before it is written.
Outcome<Profile> checked(const Profile& profile, const std::string& path) {
  ContentsSink contents;
  contents.attribute("schema_version", std::int64_t{newest_schema_version});
  send_profile(profile, contents);
  return check_profile(contents.take(), path);
}

// A directory's parts, or the file itself.
Outcome<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code unknown;
    if (entry->path().extension() == ".part" && entry->is_regular_file(unknown)) files.push_back(entry->path());
  }
  if (error) return Failure{"cannot read " + path + ": " + error.message()};
  if (files.empty()) return Failure{path + " contains no parts of a run"};
  return files;
}

}  // namespace

Outcome<std::vector<RunParts>> find_parts(const std::vector<std::string>& paths) {
  std::map<std::uint64_t, RunParts> runs;
  std::vector<std::string> unreadable;
  std::string empty;
  for (const std::string& path : paths) {
    const Outcome<std::vector<std::string>> files = files_of(path);
    if (!files) return files.failure();
    for (const std::string& file : *files) {
      try {
        const PartsInFile in_file = PartFile::parts_in(file);
        if (in_file.ranks.empty()) {  // its rank was killed, or its disk full, before it could write
          empty = file;
          continue;
        }
        RunParts& run = runs[in_file.run];
        run.run = in_file.run;
        for (const std::uint32_t rank : in_file.ranks) {
          run.parts.push_back({rank, static_cast<std::uint32_t>(run.files.size())});
        }
        run.files.push_back(file);
      } catch (const std::exception& error_in_file) {
        unreadable.emplace_back(error_in_file.what());
      }
    }
  }
  if (runs.empty() && unreadable.empty() && !empty.empty()) unreadable.push_back(empty + " is empty");
  if (runs.empty() && !unreadable.empty()) return Failure{unreadable.front()};
  std::vector<RunParts> found;
  for (auto& [number, run] : runs) {
    run.unreadable = unreadable;
    // Of a part that was given twice, the first.
    std::stable_sort(run.parts.begin(), run.parts.end(), [](auto& one, auto& other) { return one.rank < other.rank; });
    const auto is_same = [](auto& one, auto& other) { return one.rank == other.rank; };
    run.parts.erase(std::unique(run.parts.begin(), run.parts.end(), is_same), run.parts.end());
    found.push_back(std::move(run));
  }
  return found;
}

Outcome<Recovered> recover(const RunParts& run, const std::string& output, const RecoverProgress& progress) try {
  Overview overview(run);
  const auto report = [&progress](double first, double share) {
    if (progress) progress(0.5 * (first + share));
  };
  for (std::size_t i = 0; i < run.parts.size(); ++i) {
    overview.read(run.parts[i]);
    report(0.0, static_cast<double>(i + 1) / static_cast<double>(run.parts.size()));
  }
  const std::string& first_file = run.files.front();
  if (overview.ranks_found() == 0 && !overview.damage().empty()) return Failure{overview.damage()};
  if (overview.ranks_found() == 0) return Failure{first_file + ": the run ended before anything was saved"};
  overview.choose_among_damaged();
  Profile merged = overview.merge([&report](double share) { report(1.0, share); });
  overview.put_into(merged);
  const Outcome<Profile> profile = checked(merged, first_file);
  if (!profile) {
    return Failure{first_file + " or another part of its run is corrupted: " + profile.failure().message};
  }
  const Outcome<std::string> written = write_profile(*profile, output);
  if (!written) return written.failure();
  return Recovered{.profile = *written,
                   .segments = profile->segments,
                   .ranks = profile->ranks,
                   .ranks_found = static_cast<int>(overview.ranks_found()),
                   .has_damage = !overview.damage().empty(),
                   .exit_state = profile->exit_state,
                   .incomplete = profile->incomplete};
} catch (const std::exception& error) {
  return Failure{error.what()};
}

}  // namespace halcyon
