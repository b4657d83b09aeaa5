#include "libprofile/record/steps.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "libprofile/format/boundary.hpp"

namespace halcyon {

void Steps::Row::add(const Row& other) {
  for (std::size_t i = 0; i < measure_count; ++i) measured[i] += other.measured[i];
  for (std::size_t i = 0; i < feature_count; ++i) features[i] += other.features[i];
}

void Steps::begin(ThreadState& thread, double ticks_per_nanosecond, Ticks now) {
  least_ = {static_cast<std::uint64_t>(least_nanoseconds * ticks_per_nanosecond)};
  began_ = now;
  cpu_wait_.begin(ticks_per_nanosecond);
  injected_totals_ = totals_of_intm();
  last_ = sums(thread, now);
  thread.steps = this;
}

void Steps::forget() {
  if (log_ != nullptr) munmap(log_, most_rows * sizeof(Row));
  log_ = nullptr;
  rows_ = 0;
  recurring_count_ = 0;
}

// If there is no room for a place, its calls end no rows.
Steps::Place* Steps::find(const void* site, Ticks now) {
  constexpr std::size_t most_tries = 4;
  const std::size_t home = home_of(site);
  for (std::size_t i = 0; i < most_tries; ++i) {
    Place& place = places_[(home + i) % places_.size()];
    if (place.site == site) {
      if (i == 0) return &place;  // met() has counted the call
      return (++place.calls & place.mask) == 0 ? &place : nullptr;
    }
    if (place.site == nullptr) {
      place = {.site = site, .calls = 1, .mask = first_look - 1, .first = now};
      return nullptr;
    }
  }
  return nullptr;
}

bool Steps::look(const void* site, Ticks entry, Ticks exit) {
  Place* const place = find(site, exit);
  if (place == nullptr) return false;
  if (place->recurring == nowhere || !recurring_[place->recurring].ends_rows) {
    if (!begins_to_end_rows(*place, exit)) {
      place->mask = std::max(place->mask, 2 * place->calls - 1);  // look again after twice as many calls
      return false;
    }
  }
  ending_ = place->recurring;
  note_row(recurring_[ending_], entry, exit);
  return true;
}

// Called when the number of calls is a power of two.
bool Steps::begins_to_end_rows(Place& place, Ticks now) {
  const double between = static_cast<double>((now - place.first).count) / (place.calls - 1);
  const double enough = static_cast<double>(least_.count);
  std::uint32_t every = 1;
  while (every * between < enough && every < place.calls) every *= 2;
  if (place.calls / every < first_look) return false;
  // Calls that always come together end the same steps: the first of them does.
  for (std::uint32_t i = 0; i < recurring_count_; ++i) {
    const Recurring& other = recurring_[i];
    if (other.ends_rows && other.place->calls - place.calls + 1 <= 2) return false;
  }
  if (!make_room_for_one_more(place, now)) return false;
  place.recurring = recurring_count_;
  place.mask = every - 1;
  recurring_[recurring_count_++] = {
      .place = &place, .first = place.calls, .every = every, .ends_rows = true, .window = now, .last = now};
  return true;
}

bool Steps::make_room_for_one_more(const Place& place, Ticks now) {
  if (recurring_count_ == most_recurring) return false;
  Recurring* least = nullptr;
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < recurring_count_; ++i) {
    Recurring& other = recurring_[i];
    if (!other.ends_rows) continue;
    ++count;
    const bool covers_less = now - place.first > other.last - other.place->first;
    if (covers_less && is_stale(other, now)) least = &other;
  }
  if (count < most_at_a_time) return true;
  if (least == nullptr) return false;
  least->ends_rows = false;
  least->place->mask = ~0u;  // of no further interest
  return true;
}

// It belonged to a phase of the program that is over.
bool Steps::is_stale(const Recurring& other, Ticks now) const {
  constexpr std::uint64_t many = 16;
  const std::uint64_t rows = std::max(1u, other.place->calls / other.every);
  const std::uint64_t between = (other.last - other.place->first).count / rows;
  return (now - other.last).count > many * between;
}

void Steps::note_row(Recurring& recurring, Ticks entry, Ticks exit) {
  constexpr std::uint32_t window = 16;
  recurring.last = exit;
  recurring.time += exit - entry;
  if (++recurring.in_window < window) return;
  const Ticks lasted = exit - recurring.window;
  if (lasted.count < window * least_.count) widen(recurring);
  const bool is_most_of_it = 2 * lasted.count > (exit - recurring.place->first).count;
  if (is_most_of_it && !recurring.is_thinned) narrow(recurring, {lasted.count / window});
  recurring.in_window = 0;
  recurring.window = exit;
}

void Steps::widen(Recurring& recurring) {
  recurring.every *= 2;
  recurring.place->mask = recurring.every - 1;
}

// The calls that came so fast were those of a short phase. What was kept of that ends no steps then.
void Steps::narrow(Recurring& recurring, Ticks row) {
  std::uint32_t every = recurring.every;
  for (std::uint64_t half = row.count / 2; every > 1 && half > 2 * least_.count; half /= 2) every /= 2;
  if (every == recurring.every) return;
  recurring.every = every;
  recurring.first = recurring.place->calls;
  recurring.place->mask = every - 1;
}

void Steps::add_row(ThreadState& thread, Ticks end) {
  if (log_ == nullptr) {
    void* const room =
        mmap(nullptr, most_rows * sizeof(Row), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
      thread.steps = nullptr;
      return forget();
    }
    log_ = static_cast<Row*>(room);
    cpu_wait_.restart(cpu_wait_of_thread_, thread.cpu.off());
  }
  if (rows_ == most_rows) thin();
  Row& row = log_[rows_++];
  row = row_until(thread, end);
  row.add(std::exchange(carried_, {}));
  row.recurring = ending_;
  row.call = recurring_[ending_].place->calls;
}

bool Steps::is_kept(const Row& row) const {
  const Recurring& recurring = recurring_[row.recurring];
  return recurring.ends_rows && row.call >= recurring.first && row.call % recurring.every == 0;
}

// Places that end few rows keep them all.
void Steps::thin() {
  while (rows_ > most_rows / 2) {
    std::array<std::uint32_t, most_recurring> rows{};
    for (std::size_t i = 0; i < rows_; ++i) ++rows[log_[i].recurring];
    for (std::uint32_t i = 0; i < recurring_count_; ++i) {
      if (!recurring_[i].ends_rows || rows[i] <= most_rows / (2 * most_at_a_time)) continue;
      widen(recurring_[i]);
      recurring_[i].is_thinned = true;
    }
    std::size_t kept = 0;
    Row open;
    for (std::size_t i = 0; i < rows_; ++i) {
      Row row = log_[i];
      row.add(open);
      open = {};
      if (is_kept(row)) {
        log_[kept++] = row;
      } else {
        open = row;
      }
    }
    open.add(carried_);
    carried_ = open;
    rows_ = kept;
  }
}

Steps::Sums Steps::sums(ThreadState& thread, Ticks now) const {
  Sums sums{.times = thread.sums(now)};
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    sums.counts[feature] = thread.counts[feature].load(std::memory_order_relaxed);
  }
  if (injected_totals_ != nullptr) injected_totals_(&sums.injected_requested, &sums.injected_actual);
  return sums;
}

Steps::Row Steps::row_until(ThreadState& thread, Ticks now) {
  const Sums until = sums(thread, now);
  const ThreadState::AtBoundary& from = last_.times;
  const ThreadState::AtBoundary& to = until.times;
  Row row;
  const auto set = [&row](Measure measure, std::uint64_t value) {
    row.measured[index_of(measure)] = static_cast<float>(value);
  };
  set(Measure::duration, (now - from.time).count);
  set(Measure::off_cpu, (to.off_cpu - from.off_cpu).count);
  const Ticks waited_for_cpu = cpu_wait_.take(cpu_wait_of_thread_, thread.cpu.off());
  set(Measure::cpu_wait, std::min((to.off_cpu - from.off_cpu).count, waited_for_cpu.count));
  set(Measure::beyond_usual, (to.beyond_usual - from.beyond_usual).count);
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    set(measure_of(static_cast<TimeKind>(kind)), (to.times[kind] - from.times[kind]).count);
  }
  set(Measure::boundary, std::exchange(waited_, {}).count);
  set(Measure::injected_requested, until.injected_requested - last_.injected_requested);
  set(Measure::injected_actual, until.injected_actual - last_.injected_actual);
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    row.features[feature] = static_cast<float>(until.counts[feature] - last_.counts[feature]);
  }
  row.features[index_of(Feature::compute)] = static_cast<float>(to.work - from.work);
  last_ = until;
  return row;
}

void Steps::end(ThreadState& thread, Ticks now) {
  rest_ = row_until(thread, now);
  rest_.add(std::exchange(carried_, {}));
}

// A place may make several calls in a row in each step, such as one for each neighbour.
std::uint32_t Steps::regular_every(std::uint32_t number) const {
  constexpr std::uint32_t most_multiples = 64;
  constexpr std::size_t most_short = 8;  // one in so many
  const std::uint32_t every = recurring_[number].every;
  struct End {
    std::uint32_t call;
    double time;
  };
  std::vector<End> all;
  double time = 0.0;
  for (std::size_t i = 0; i < rows_; ++i) {
    time += static_cast<double>(log_[i].measured[index_of(Measure::duration)]);
    if (log_[i].recurring == number && log_[i].call % every == 0) all.push_back({log_[i].call, time});
  }
  std::vector<double> between;
  for (std::uint32_t multiple = 1; multiple <= most_multiples; ++multiple) {
    between.clear();
    double last = 0.0;
    for (const End& end : all) {
      if (end.call % (multiple * every) == 0) between.push_back(end.time - std::exchange(last, end.time));
    }
    if (between.size() < fewest_judged_segments) return 0;
    const auto least = static_cast<double>(least_.count);
    const auto short_ones = std::ranges::count_if(between, [least](double time) { return time < least; });
    if (static_cast<std::size_t>(short_ones) <= between.size() / most_short) return multiple * every;
  }
  return 0;
}

std::vector<StepEnds> Steps::ends() const {
  std::vector<StepEnds> ends;
  constexpr std::uint64_t least_part = 4;  // of the run, one in so many
  const Ticks whole = last_.times.time - began_;
  for (std::uint32_t i = 0; i < recurring_count_ && log_ != nullptr; ++i) {
    const Recurring& recurring = recurring_[i];
    const Ticks covered = recurring.last - recurring.place->first;
    if (!recurring.ends_rows || least_part * covered.count < whole.count) continue;
    ends.push_back({.site = recurring.line,
                    .number = i,
                    .calls = recurring.place->calls,
                    .first = recurring.first,
                    .every = recurring.every,
                    .regular = regular_every(i),
                    .time = static_cast<double>(recurring.time.count)});
  }
  return ends;
}

void Steps::for_each_step(std::uint32_t number, std::uint32_t first, std::uint32_t last, std::uint32_t every,
                          const std::function<void(const SegmentRow&, bool is_last)>& visit) const {
  Row open;
  const auto give = [&visit](const Row& row, bool is_last) {
    SegmentRow segment;
    for (std::size_t i = 0; i < measure_count; ++i) segment.measured[i] = static_cast<double>(row.measured[i]);
    for (std::size_t i = 0; i < feature_count; ++i) segment.features[i] = static_cast<double>(row.features[i]);
    visit(segment, is_last);
  };
  for (std::size_t i = 0; i < rows_; ++i) {
    const Row& row = log_[i];
    open.add(row);
    if (row.recurring != number || row.call % every != 0 || row.call < first || row.call > last) continue;
    give(open, false);
    open = {};
  }
  open.add(rest_);
  give(open, true);
}

}  // namespace halcyon
