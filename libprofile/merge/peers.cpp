#include "libprofile/merge/peers.hpp"

#include <algorithm>
#include <utility>

#include "libprofile/format/beside_peers.hpp"
#include "libprofile/format/packer.hpp"

namespace halcyon {
namespace {

constexpr std::size_t most_places = 8;

// Whether a rank was behind its peers in each eighth of a place, and by how much.
class Lag {
 public:
  void add(double computing, double at_peers) {
    times_behind_ += computing > at_peers ? 1 : 0;
    ++times_;
    computing_ += computing;
    at_peers_ += at_peers;
  }
  bool is_behind() const { return times_behind_ == times_ && times_ >= eighths / 2; }
  double at_peers() const { return at_peers_; }
  double share() const { return 1.0 - at_peers_ / computing_; }

 private:
  std::size_t times_ = 0;
  std::size_t times_behind_ = 0;
  double computing_ = 0.0;
  double at_peers_ = 0.0;
};

// The columns of a profile, to which the sums of one rank after the other are added.
RankSections columns_of(const Sections& sections) {
  RankSections columns;
  for (const std::string& place : sections.places) columns.place.insert(columns.place.end(), eighths, place);
  return columns;
}

void add_rank(const std::vector<SectionSum>& sums, RankSections& columns) {
  for (const SectionSum& sum : sums) {
    columns.computing.push_back(static_cast<float>(sum.computing));
    columns.work.push_back(static_cast<float>(sum.work));
    columns.waiting.push_back(static_cast<float>(sum.waiting));
    columns.file_io.push_back(static_cast<float>(sum.file_io));
    columns.device.push_back(static_cast<float>(sum.device));
  }
}

std::vector<std::byte> bytes_of(const RankSections& columns) {
  Packer packer;
  for (const auto column : RankSections::columns) packer.put((columns.*column).data(), (columns.*column).size());
  return packer.take();
}

void add_ranks(const std::vector<std::byte>& gathered, RankSections& columns) {
  for (Unpacker unpacker(gathered); !unpacker.at_end();) {
    for (const auto column : RankSections::columns) {
      std::vector<float>& values = columns.*column;
      values.resize(values.size() + columns.count());
      unpacker.get(values.data() + values.size() - columns.count(), columns.count());
    }
  }
}

// All segments in one place: where ranks end the same segment at different places.
Sections of_one_place(std::uint64_t segments) { return {.places = {""}, .segments = segments}; }

// The places at which a rank spent most time.
Sections sections_of(const SiteSums& rank, std::uint64_t segments) {
  std::vector<std::pair<double, std::string>> places;
  for (std::size_t site = 0; site < rank.sites.size(); ++site) {
    double seconds = 0.0;
    for (const SectionSum& sum : rank.sums[site]) seconds += sum.computing + sum.waiting;
    if (seconds > 0.0) places.emplace_back(-seconds, rank.sites[site]);
  }
  std::sort(places.begin(), places.end());
  Sections sections{.places = {}, .segments = segments};
  for (const auto& [seconds, place] : places) {
    if (sections.places.size() + 1 < most_places) sections.places.push_back(place);
  }
  sections.places.emplace_back();
  return sections;
}

// (sections) of one rank.
std::vector<SectionSum> sums_by_section(const Sections& sections, const SiteSums& rank) {
  std::vector<SectionSum> result(sections.count());
  for (std::size_t site = 0; site < rank.sites.size(); ++site) {
    const std::size_t first = sections.place_of(rank.sites[site]) * eighths;
    for (std::size_t eighth = 0; eighth < eighths; ++eighth) {
      SectionSum& sum = result[first + eighth];
      sum.segments += rank.sums[site][eighth].segments;
      sum.computing += rank.sums[site][eighth].computing;
      sum.work += rank.sums[site][eighth].work;
      sum.waiting += rank.sums[site][eighth].waiting;
      sum.file_io += rank.sums[site][eighth].file_io;
      sum.device += rank.sums[site][eighth].device;
    }
  }
  return result;
}

BehindPeers behind_peers(const RankSections& sums) {
  const std::size_t places = sums.count() / eighths;
  const std::size_t count = sums.place.empty() ? 0 : sums.work.size() / eighths;  // ranks x places
  std::vector<double> work(count);
  std::vector<Lag> slower(count);
  std::vector<Lag> more_work(count);
  for_each_beside_peers(sums, [&](const BesidePeers& rank) {
    const std::size_t at = rank.rank * places + rank.section / eighths;
    work[at] += rank.work;
    slower[at].add(rank.computing, rank.at_pace);
    more_work[at].add(rank.computing, rank.with_work);
  });
  BehindPeers behind{.pace = std::vector<float>(count), .more_work = std::vector<float>(count)};
  for (std::size_t at = 0; at < count; ++at) {
    if (slower[at].is_behind()) behind.pace[at] = static_cast<float>(slower[at].at_peers() / work[at]);
    if (more_work[at].is_behind()) behind.more_work[at] = static_cast<float>(more_work[at].share());
  }
  return behind;
}

// The root's places, for all ranks.
Sections agreed(const Exchange& exchange, const SiteSums& own, std::uint64_t segments) {
  Packer packer;
  if (exchange.is_root()) {
    for (const std::string& place : sections_of(own, segments).places) packer.put_text(place);
  }
  std::vector<std::byte> places = packer.take();
  exchange.broadcast(places);
  Sections sections{.places = {}, .segments = segments};
  for (Unpacker unpacker(places); !unpacker.at_end();) sections.places.push_back(unpacker.get_text());
  return sections;
}

bool all_have_the_same_segments(const Exchange& exchange, const std::vector<SectionSum>& own) {
  std::vector<std::uint64_t> values;
  for (const SectionSum& sum : own) values.insert(values.end(), {sum.segments, ~sum.segments});
  const std::vector<std::uint64_t> least = exchange.least(values);
  for (std::size_t i = 0; i < least.size(); i += 2) {
    if (least[i] != ~least[i + 1]) return false;
  }
  return true;
}

// What all ranks need of BehindPeers, from the root.
void broadcast(const Exchange& exchange, BehindPeers& behind) {
  Packer packer;
  packer.put(behind.pace.data(), behind.pace.size());
  packer.put(behind.more_work.data(), behind.more_work.size());
  std::vector<std::byte> bytes = packer.take();
  exchange.broadcast(bytes);
  const std::size_t count = bytes.size() / sizeof(float) / 2;
  behind.pace.resize(count);
  behind.more_work.resize(count);
  Unpacker unpacker(bytes);
  unpacker.get(behind.pace.data(), count);
  unpacker.get(behind.more_work.data(), count);
}

}  // namespace

std::size_t Sections::place_of(const std::string& site) const {
  const auto found = std::find(places.begin(), places.end(), site);
  return static_cast<std::size_t>(found - places.begin()) - (found == places.end() ? 1 : 0);
}

SiteSums sums_by_site(const RankRecords& rank, std::uint64_t segments) {
  SiteSums result{.sites = rank.sites, .sums = decltype(SiteSums::sums)(rank.sites.size())};
  const RankQuantizer& bins = rank.store->quantizer(index_of(Feature::compute));
  std::array<double, 256> work_of_slot{};
  for (std::size_t bin = 0; bin < bins.size(); ++bin)
    work_of_slot[bins.slot(bin)] = bins.value(bin) * rank.compute_scale;
  const Sections all = of_one_place(segments);
  const MeasureScale in_seconds(rank.nanoseconds_per_tick);
  for (std::uint64_t index = 0; index < segments; ++index) {
    const StoredSegment segment = rank.store->get(index);
    if (segment.site >= result.sums.size()) continue;  // of a damaged part
    const RowMeasures times = in_seconds.of(segment);
    SectionSum& sum = result.sums[segment.site][all.eighth_of(index)];
    ++sum.segments;
    sum.computing += static_cast<double>(computing_of(times));
    sum.waiting += static_cast<double>(slack_of(times));
    sum.file_io += static_cast<double>(times[index_of(Measure::file_io)]);
    sum.device += static_cast<double>(times[index_of(Measure::device)]);
    sum.work += work_of_slot[segment.slot(index_of(Feature::compute))];
  }
  return result;
}

AvoidableTimes::AvoidableTimes(const Peers& peers, const std::vector<std::string>& sites)
    : places_(peers.sections.places.size()), behind_(peers.behind) {
  if (behind_.pace.empty()) return;
  for (const std::string& site : sites) {
    place_of_site_.push_back(static_cast<std::uint8_t>(peers.sections.place_of(site)));
  }
}

Avoidable AvoidableTimes::of(std::size_t rank, std::uint16_t site, double work, const RowMeasures& times) const {
  Avoidable avoidable{.cpu_wait = times[index_of(Measure::cpu_wait)]};
  if (!has_peers()) return avoidable;
  const std::size_t at = rank * places_ + place_of_site_[site];
  const float computing = computing_of(times);
  const float pace = behind_.pace[at];
  if (pace > 0.0F) avoidable.slower = std::max(0.0F, computing - pace * static_cast<float>(work));
  avoidable.more_work = computing * behind_.more_work[at];
  return avoidable;
}

Peers compare_ranks(const Exchange& exchange, const RankRecords& own, std::uint64_t segments, RankSections& columns) {
  const SiteSums by_site = sums_by_site(own, segments);
  if (exchange.ranks() == 1) return compare_ranks({by_site}, segments, columns);
  Peers peers{.sections = agreed(exchange, by_site, segments), .behind = {}};
  std::vector<SectionSum> sums = sums_by_section(peers.sections, by_site);
  if (!all_have_the_same_segments(exchange, sums)) {
    peers.sections = of_one_place(segments);
    sums = sums_by_section(peers.sections, by_site);
  }
  RankSections of_rank = columns_of(peers.sections);
  add_rank(sums, of_rank);
  const std::vector<std::byte> gathered = exchange.gather(bytes_of(of_rank));
  if (exchange.is_root()) {
    columns = columns_of(peers.sections);
    add_ranks(gathered, columns);
    peers.behind = behind_peers(columns);
  }
  broadcast(exchange, peers.behind);
  return peers;
}

Peers compare_ranks(const std::vector<SiteSums>& ranks, std::uint64_t segments, RankSections& columns) {
  Peers peers{.sections = sections_of(ranks.front(), segments), .behind = {}};
  const std::vector<SectionSum> of_first = sums_by_section(peers.sections, ranks.front());
  const bool are_alike = std::ranges::all_of(ranks, [&](const SiteSums& rank) {
    return std::ranges::equal(of_first, sums_by_section(peers.sections, rank), {}, &SectionSum::segments,
                              &SectionSum::segments);
  });
  if (!are_alike) peers.sections = of_one_place(segments);
  columns = columns_of(peers.sections);
  for (const SiteSums& rank : ranks) add_rank(sums_by_section(peers.sections, rank), columns);
  if (ranks.size() > 1) peers.behind = behind_peers(columns);
  return peers;
}

}  // namespace halcyon
