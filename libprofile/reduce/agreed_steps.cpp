#include "libprofile/reduce/agreed_steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "libprofile/format/packer.hpp"
#include "libprofile/system/fnv1a.hpp"

namespace halcyon {
namespace {

// What one rank offers.
struct Offer {
  std::uint64_t site = 0;  // a hash of its text, which is the same on all ranks
  std::uint64_t calls = 0;
  std::uint64_t first = 0;
  std::uint64_t every = 0;  // 0: no offer
  std::uint64_t regular = 0;
  double time = 0.0;
};
constexpr std::size_t most_offers = 4;
using Offers = std::array<Offer, most_offers>;

template <class Number>
void visit_numbers(Number& offer, auto&& visit) {
  visit(offer.site);
  visit(offer.calls);
  visit(offer.first);
  visit(offer.every);
  visit(offer.regular);
  visit(offer.time);
}

std::vector<std::byte> pack(const Offers& offers) {
  Packer packer;
  for (const Offer& offer : offers) visit_numbers(offer, [&packer](const auto& number) { packer.put(number); });
  return packer.take();
}

Offers unpack(Unpacker& unpacker) {
  Offers offers;
  for (Offer& offer : offers) visit_numbers(offer, [&unpacker](auto& number) { unpacker.get(number); });
  return offers;
}

// One offer of each rank, and every how manieth call of it ends a step. Steps are numbered from 1: the first ones, in
// which some rank did not keep rows yet, are one.
struct Choice {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::vector<std::uint8_t> offers;  // none: the ranks have nothing in common
  std::vector<std::uint64_t> every;
  bool is_regular = true;

  std::uint64_t steps() const { return last >= first ? last - first + 1 : 0; }
};

const Offer& offer_of(const Choice& choice, const std::vector<Offers>& of_ranks, std::size_t rank) {
  return of_ranks[rank][choice.offers[rank]];
}

// `last` is set, and the offers. All calls whose number is in `every` end steps.
void set_first(Choice& choice, const std::vector<Offers>& of_ranks) {
  choice.first = 1;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    const std::uint64_t every = choice.every[rank];
    choice.first = std::max(choice.first, (offer_of(choice, of_ranks, rank).first + every - 1) / every);
  }
}

std::uint64_t apart(const Offer& one, const Offer& other) {
  return one.calls > other.calls ? one.calls - other.calls : other.calls - one.calls;
}

// The ranks may begin and end a little differently: the first of a pipeline receives nothing, another gets a last
// message.
constexpr std::uint64_t most_calls_apart = 2;

std::optional<std::uint8_t> offer_like(const Offer& wanted, const Offers& offers) {
  std::optional<std::uint8_t> best;
  const auto worth = [&wanted](const Offer& offer) {
    return std::tuple(offer.site == wanted.site, most_calls_apart - apart(offer, wanted), offer.time);
  };
  for (std::uint8_t i = 0; i < offers.size(); ++i) {
    if (offers[i].every == 0 || apart(offers[i], wanted) > most_calls_apart) continue;
    if (!best || worth(offers[i]) > worth(offers[*best])) best = i;
  }
  return best;
}

// As many calls at each rank.
Choice choice_around(const Offer& wanted, const std::vector<Offers>& of_ranks) {
  Choice choice;
  std::uint64_t every = 1;
  std::uint64_t calls = wanted.calls;
  for (const Offers& offers : of_ranks) {
    const std::optional<std::uint8_t> like = offer_like(wanted, offers);
    if (!like) return {};
    choice.offers.push_back(*like);
    every = std::lcm(every, std::max(offers[*like].every, offers[*like].regular));
    choice.is_regular = choice.is_regular && offers[*like].regular > 0;
    calls = std::min(calls, offers[*like].calls);
    if (every > calls) return {};
  }
  choice.every.assign(of_ranks.size(), every);
  choice.last = calls / every;
  set_first(choice, of_ranks);
  return choice;
}

// Steps between which about as much time passes are better than others, and one at each call is better than at each
// second or third, which may lie in the middle of what repeats. Then many steps are better, and one place that all
// ranks have, and one where they wait.
Choice best_with_equal_calls(const std::vector<Offers>& of_ranks) {
  Choice best;
  const auto worth = [&of_ranks](const Choice& choice) {
    std::size_t of_one_site = 0;
    double time = 0.0;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
      const Offer& offer = offer_of(choice, of_ranks, rank);
      of_one_site += offer.site == offer_of(choice, of_ranks, 0).site ? 1 : 0;
      time += offer.time;
    }
    return std::tuple(choice.is_regular, choice.every.front() == 1, choice.steps(), of_one_site, time);
  };
  for (const Offer& wanted : of_ranks.front()) {
    if (wanted.every == 0) continue;
    Choice choice = choice_around(wanted, of_ranks);
    if (choice.offers.empty() || choice.steps() < fewest_judged_segments) continue;
    if (best.offers.empty() || worth(choice) > worth(best)) best = std::move(choice);
  }
  return best;
}

// A master has more calls than its workers, and these have unequal numbers. Each rank then divides its own calls into
// as many steps as every other: equal steps, of which few calls are left over at the end.
Choice best_with_shares(const std::vector<Offers>& of_ranks) {
  constexpr std::uint64_t most_left_over = 8;  // one part in so many
  constexpr std::uint64_t most_tries = 4096;
  const auto rows = [](const Offer& offer) { return offer.every > 0 ? offer.calls / offer.every : 0; };
  Choice choice;
  for (const Offers& offers : of_ranks) {
    const auto finest = std::ranges::max_element(offers, {}, rows);
    choice.offers.push_back(static_cast<std::uint8_t>(finest - offers.begin()));
    const std::uint64_t own = rows(*finest);
    choice.last = choice.offers.size() == 1 ? own : std::min(choice.last, own);
  }
  choice.every.resize(of_ranks.size());
  const auto divides = [&] {
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
      const Offer& offer = offer_of(choice, of_ranks, rank);
      choice.every[rank] = offer.calls / (choice.last * offer.every) * offer.every;
      if (offer.calls - choice.every[rank] * choice.last > offer.calls / most_left_over) return false;
    }
    return true;
  };
  for (std::uint64_t tries = 0; choice.last >= fewest_judged_segments && tries < most_tries; ++tries, --choice.last) {
    if (!divides()) continue;
    set_first(choice, of_ranks);
    if (choice.steps() >= fewest_judged_segments) return choice;
  }
  return {};
}

Choice best_choice(const std::vector<Offers>& of_ranks) {
  Choice choice = best_with_equal_calls(of_ranks);
  return choice.offers.empty() ? best_with_shares(of_ranks) : choice;
}

// The root's, at all ranks.
Choice choose(const Exchange& exchange, const Offers& own) {
  const std::vector<std::byte> gathered = exchange.gather(pack(own));
  Packer packer;
  if (exchange.is_root()) {
    std::vector<Offers> of_ranks;
    for (Unpacker unpacker(gathered); !unpacker.at_end();) of_ranks.push_back(unpack(unpacker));
    const Choice best = best_choice(of_ranks);
    packer.put(best.first);
    packer.put(best.last);
    packer.put(best.offers.data(), best.offers.size());
    packer.put(best.every.data(), best.every.size());
  }
  std::vector<std::byte> chosen = packer.take();
  exchange.broadcast(chosen);
  Unpacker unpacker(chosen);
  Choice choice{.first = unpacker.get<std::uint64_t>(), .last = unpacker.get<std::uint64_t>()};
  if (unpacker.at_end()) return {};
  choice.offers.resize(static_cast<std::size_t>(exchange.ranks()));
  choice.every.resize(choice.offers.size());
  unpacker.get(choice.offers.data(), choice.offers.size());
  unpacker.get(choice.every.data(), choice.every.size());
  return choice;
}

struct OwnOffers {
  std::vector<StepEnds> ends;
  Offers offers;
};

// Throws if memory runs out.
OwnOffers own_offers(Recorder& run) {
  OwnOffers own;
  own.ends = run.steps.ends();
  if (own.ends.size() > most_offers) own.ends.resize(most_offers);
  CallSites sites;
  for (std::size_t i = 0; i < own.ends.size(); ++i) {
    const StepEnds& ends = own.ends[i];
    const std::uint8_t number = sites.number_of(ends.site, Boundary::step, run.python);
    own.offers[i] = {.site = fnv1a(sites.sites()[number].text),
                     .calls = ends.calls,
                     .first = ends.first,
                     .every = ends.every,
                     .regular = ends.regular,
                     .time = ends.time};
  }
  return own;
}

// Throws if memory runs out.
std::unique_ptr<AgreedSteps> steps_of(const Recorder& run, const StepEnds& ends, const Choice& choice,
                                      std::uint64_t every) {
  auto steps = std::make_unique<AgreedSteps>();
  steps->segments = std::make_unique<SegmentStore>(run.steps.rows() + 1, run.records.segments().with_injection());
  const std::uint8_t at_call = steps->sites.number_of(ends.site, Boundary::step, run.python);
  const std::uint8_t at_end = steps->sites.number_of(nullptr, Boundary::finalize, run.python);
  const auto number = [every](std::uint64_t step) { return static_cast<std::uint32_t>(step * every); };
  run.steps.for_each_step(ends.number, number(choice.first), number(choice.last), number(1),
                          [&](SegmentRow row, bool is_last) {
                            row.site = is_last ? at_end : at_call;
                            steps->segments->push(row);
                          });
  steps->segments->settle();
  const bool is_whole = steps->segments->size() == choice.steps() + 1;
  return is_whole ? std::move(steps) : nullptr;
}

}  // namespace

// Rows do not know when the run was suspended: any thread's boundary may have been where it stood still.
bool has_steps(const Recorder& run) {
  return run.figures().suspensions == 0 && run.boundaries.leaves_room_for_steps() && this_thread != nullptr &&
         this_thread->steps != nullptr && run.steps.rows() >= fewest_judged_segments;
}

std::unique_ptr<AgreedSteps> agree_on_steps(const Exchange& exchange, Recorder& run) {
  OwnOffers own;
  try {
    own = own_offers(run);
  } catch (const std::exception&) {  // the others wait for this rank's offers: it has none
    own = {};
  }
  const Choice choice = choose(exchange, own.offers);
  if (choice.offers.empty()) return nullptr;
  const auto rank = static_cast<std::size_t>(exchange.rank());
  std::unique_ptr<AgreedSteps> steps;
  try {
    steps = steps_of(run, own.ends.at(choice.offers[rank]), choice, choice.every[rank]);
  } catch (const std::exception&) {
    steps = nullptr;
  }
  const bool have_all = exchange.least({steps != nullptr ? 1u : 0u}).front() == 1;
  return have_all ? std::move(steps) : nullptr;
}

}  // namespace halcyon
