#include "libprofile/reduce/agreed_steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
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

// A choice of one offer of each rank.
struct Choice {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t every = 0;  // 0: the ranks have nothing in common
  std::vector<std::uint8_t> offers;
  std::size_t of_one_site = 0;
  double time = 0.0;

  std::uint64_t steps() const {
    const std::uint64_t before = first > 0 ? (first - 1) / every : 0;
    return last / every > before ? last / every - before : 0;
  }
};

// The ranks may begin and end a little differently: the first of a pipeline receives nothing, another gets a last
// message.
constexpr std::uint64_t most_calls_apart = 2;

std::optional<std::uint8_t> fitting_offer(const Offers& offers, const Offer& wanted) {
  std::optional<std::uint8_t> best;
  const auto apart = [&wanted](const Offer& offer) {
    return offer.calls > wanted.calls ? offer.calls - wanted.calls : wanted.calls - offer.calls;
  };
  const auto worth = [&](const Offer& offer) {
    return std::tuple(offer.site == wanted.site, most_calls_apart - apart(offer), offer.time);
  };
  for (std::uint8_t i = 0; i < offers.size(); ++i) {
    if (offers[i].every == 0 || apart(offers[i]) > most_calls_apart) continue;
    if (!best || worth(offers[i]) > worth(offers[*best])) best = i;
  }
  return best;
}

Choice choice_around(const Offer& wanted, const std::vector<Offers>& of_ranks) {
  Choice choice{.first = wanted.first, .last = wanted.calls, .every = wanted.every};
  for (const Offers& offers : of_ranks) {
    const std::optional<std::uint8_t> fitting = fitting_offer(offers, wanted);
    if (!fitting) return {};
    const Offer& offer = offers[*fitting];
    choice.offers.push_back(*fitting);
    choice.first = std::max(choice.first, offer.first);
    choice.last = std::min(choice.last, offer.calls);
    choice.every = std::max(choice.every, offer.every);
    choice.of_one_site += offer.site == wanted.site ? 1 : 0;
    choice.time += offer.time;
  }
  return choice;
}

// Each call is better than each second one or fourth, which may go through the middle of what repeats. Then many steps
// are better, and one place that all ranks have, and one where they wait.
Choice best_choice(const std::vector<Offers>& of_ranks) {
  Choice best;
  const auto worth = [](const Choice& choice) {
    return std::tuple(choice.every == 1, choice.steps(), choice.of_one_site, choice.time);
  };
  for (const Offer& wanted : of_ranks.front()) {
    if (wanted.every == 0) continue;
    Choice choice = choice_around(wanted, of_ranks);
    if (choice.every == 0 || choice.steps() < fewest_judged_segments) continue;
    if (best.every == 0 || worth(choice) > worth(best)) best = std::move(choice);
  }
  return best;
}

// The root's, at all ranks.
Choice choose(const Exchange& exchange, const Offers& own) {
  const std::vector<std::byte> gathered = exchange.gather(pack(own));
  Packer packer;
  if (exchange.is_root()) {
    std::vector<Offers> of_ranks;
    for (Unpacker unpacker(gathered); !unpacker.at_end();) of_ranks.push_back(unpack(unpacker));
    Choice best = best_choice(of_ranks);
    best.offers.resize(of_ranks.size());
    packer.put(best.first);
    packer.put(best.last);
    packer.put(best.every);
    packer.put(best.offers.data(), best.offers.size());
  }
  std::vector<std::byte> chosen = packer.take();
  exchange.broadcast(chosen);
  Unpacker unpacker(chosen);
  Choice choice;
  for (std::uint64_t* number : {&choice.first, &choice.last, &choice.every}) unpacker.get(*number);
  choice.offers.resize(static_cast<std::size_t>(exchange.ranks()));
  for (std::uint8_t& offer : choice.offers) unpacker.get(offer);
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
                     .time = ends.time};
  }
  return own;
}

// Throws if memory runs out.
std::unique_ptr<AgreedSteps> steps_of(const Recorder& run, const StepEnds& ends, const Choice& choice) {
  auto steps = std::make_unique<AgreedSteps>();
  steps->segments = std::make_unique<SegmentStore>(run.steps.rows() + 1, run.records.segments().with_injection());
  const std::uint8_t at_call = steps->sites.number_of(ends.site, Boundary::step, run.python);
  const std::uint8_t at_end = steps->sites.number_of(nullptr, Boundary::finalize, run.python);
  const auto number = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  run.steps.for_each_step(ends.number, number(choice.first), number(choice.last), number(choice.every),
                          [&](SegmentRow row, bool is_last) {
                            row.site = is_last ? at_end : at_call;
                            steps->segments->push(row);
                          });
  steps->segments->settle();
  const bool is_whole = steps->segments->size() == choice.steps() + 1;
  return is_whole ? std::move(steps) : nullptr;
}

}  // namespace

bool has_steps(const Recorder& run) {
  return run.boundaries.leaves_room_for_steps() && this_thread != nullptr && this_thread->steps != nullptr &&
         run.steps.rows() >= fewest_judged_segments;
}

std::unique_ptr<AgreedSteps> agree_on_steps(const Exchange& exchange, Recorder& run) {
  OwnOffers own;
  try {
    own = own_offers(run);
  } catch (const std::exception&) {  // the others wait for this rank's offers: it has none
    own = {};
  }
  const Choice choice = choose(exchange, own.offers);
  if (choice.every == 0) return nullptr;
  std::unique_ptr<AgreedSteps> steps;
  try {
    steps = steps_of(run, own.ends[choice.offers[static_cast<std::size_t>(exchange.rank())]], choice);
  } catch (const std::exception&) {
    steps = nullptr;
  }
  const bool have_all = exchange.least({steps != nullptr ? 1u : 0u}).front() == 1;
  return have_all ? std::move(steps) : nullptr;
}

}  // namespace halcyon
