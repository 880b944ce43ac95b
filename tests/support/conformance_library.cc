// Lists from the whole library.

#include <algorithm>
#include <cmath>
#include <map>

#include "src/core/plackett_luce.h"
#include "tests/support/conformance.h"
#include "tests/support/world.h"

namespace hindsight::testing {
namespace {

constexpr double kRounding = 1e-9;

Request library_request(std::size_t k, std::uint64_t counter) {
  Request request;
  request.decision = {.source = 3, .counter = counter};
  request.time_ms = 1'000'000'000;
  request.whole_library = true;
  request.k = k;
  request.group = 1;
  return request;
}

Result<Decision> draw(const Ranker& ranker, const World& world, const Request& request) {
  Rng rng = Rng::for_decision(8, request.decision);
  return ranker.rank(request, world.signals(), rng);
}

/// RETURNS: how the list of the library differs from that of all its items, named one by one.
Verdict compare_with_a_scan(const Ranker& ranker, const World& world, std::size_t k) {
  std::vector<ItemIndex> live = world.live();
  std::sort(live.begin(), live.end());
  const Request whole = library_request(k, k);
  Request listed = whole;
  listed.whole_library = false;
  listed.candidates = live;
  const auto expected = draw(ranker, world, listed);
  const auto drawn = draw(ranker, world, whole);
  if (expected.ok() != drawn.ok()) {
    return "a library is ranked where its items are not, or the other way round";
  }
  if (!expected.ok()) {
    return {};
  }
  const std::string what = difference(*expected, *drawn);
  return what.empty() ? Verdict() : "another list than that of all items, in " + what;
}

Verdict check_scan(const Ranker& ranker, const World& world) {
  const std::size_t n = ranker.items_live();
  for (std::size_t k = 1; k <= n; ++k) {
    if (Verdict verdict = compare_with_a_scan(ranker, world, k)) {
      return "k = " + std::to_string(k) + ": " + *verdict;
    }
  }
  Request limited = library_request(2, 0);
  limited.max_scan = n;
  if (!draw(ranker, world, limited).ok()) {
    return "a library of max_scan items was refused";
  }
  limited.max_scan = n - 1;
  const auto refused = draw(ranker, world, limited);
  if (refused.ok() || refused.error().code != ErrorCode::kTooLarge) {
    return "a scan beyond max_scan was not refused as too large";
  }
  return {};
}

/// The law over the whole library, as a list of all of it tells it.
struct Law {
  std::vector<double> scores;                // of the live items, in ascending order
  std::map<ItemIndex, std::uint32_t> place;  // of an item in `scores`
  std::map<ItemIndex, double> first;
};

Result<Law> law_of(const Ranker& ranker, const World& world) {
  Request request = library_request(ranker.items_live(), 0);
  request.max_scan = 0;
  const auto all = draw(ranker, world, request);
  if (!all.ok()) {
    return all.error();
  }
  Law law;
  std::map<ItemIndex, double> scores;
  for (std::size_t i = 0; i < all->items.size(); ++i) {
    scores[all->items[i]] = all->score[i];
    law.first[all->items[i]] = all->prob_first[i];
  }
  for (const auto& [item, score] : scores) {
    law.place[item] = static_cast<std::uint32_t>(law.scores.size());
    law.scores.push_back(score);
  }
  return law;
}

/// The law is the softmax over the live items of scores that are those of the model, but for the
/// share of a tree that is not rebuilt at every step: up to a half, and alike where they are far
/// below the top.
Verdict check_law(const Ranker& ranker, const World& world, const Law& law) {
  constexpr double kStale = 0.5001;
  constexpr double kFarBelow = 35.0;
  std::vector<ItemIndex> live = world.live();
  std::sort(live.begin(), live.end());
  if (law.place.size() != live.size()) {
    return "a list of all does not show all live items";
  }
  std::vector<double> probs(live.size());
  first_slot_probs(law.scores, probs);
  const double top = *std::max_element(law.scores.begin(), law.scores.end());
  for (std::size_t i = 0; i < live.size(); ++i) {
    const auto first = law.first.find(live[i]);
    if (first == law.first.end()) {
      return "a live item is missing from a list of all";
    }
    if (std::abs(first->second - probs[i]) > kRounding) {
      return "prob_first is not the softmax of the scores";
    }
    const double score = ranker.item_score(live[i]);
    const bool far = score < top - kFarBelow && law.scores[i] < top - kFarBelow + kStale;
    if (!far && std::abs(law.scores[i] - score) > kStale) {
      return "a score of " + std::to_string(score) + " is served as " +
             std::to_string(law.scores[i]);
    }
  }
  return {};
}

/// A list that was drawn without a scan, against the law over all.
Verdict check_drawn(const Decision& decision, const Law& law) {
  std::vector<std::uint32_t> order;
  double sum = 0.0;
  for (std::size_t i = 0; i < decision.items.size(); ++i) {
    const auto place = law.place.find(decision.items[i]);
    if (place == law.place.end()) {
      return "an item is shown that is not live";
    }
    if (std::find(order.begin(), order.end(), place->second) != order.end()) {
      return "an item is shown twice";
    }
    order.push_back(place->second);
    if (decision.score[i] != law.scores[place->second]) {
      return "an item's score depends on the list";
    }
    sum += decision.prob_first[i];
    const bool law_given = decision.log_propensity.has_value();
    if (law_given && decision.prob_first[i] != law.first.at(decision.items[i])) {
      return "an item's probability to be first depends on the list";
    }
  }
  if (!decision.log_propensity) {  // the order was drawn again among the shown
    return std::abs(sum - 1) < kRounding ? Verdict() : "prob_first does not sum to 1";
  }
  const double expected = log_propensity_plackett_luce(law.scores, order);
  return std::abs(*decision.log_propensity - expected) < 1e-6 * (1 - expected)
             ? Verdict()
             : "the propensity is e^" + std::to_string(*decision.log_propensity) + ", not e^" +
                   std::to_string(expected);
}

Verdict check_draws(const Ranker& ranker, const World& world) {
  const auto law = law_of(ranker, world);
  if (!law.ok()) {
    return "a list of all was refused: " + to_string(law.error());
  }
  if (Verdict verdict = check_law(ranker, world, *law)) {
    return verdict;
  }
  for (std::size_t k = 1; k <= ranker.items_live(); ++k) {
    for (std::uint64_t counter = 0; counter < 8; ++counter) {
      Request request = library_request(k, 10 * k + counter);
      request.max_scan = 0;
      const auto decision = draw(ranker, world, request);
      if (!decision.ok()) {
        if (k == 1 && decision.error().code == ErrorCode::kUnsupported) {
          continue;  // one item out of several teaches nothing
        }
        return "a valid request was refused: " + to_string(decision.error());
      }
      if (decision->items.size() != k || decision->shown_count != k) {
        return "not k items";
      }
      if (Verdict verdict = check_drawn(*decision, *law)) {
        return "k = " + std::to_string(k) + ": " + *verdict;
      }
      if (Verdict verdict = check_own_probability(ranker, world.signals(), request, *decision)) {
        return "k = " + std::to_string(k) + ": " + *verdict;
      }
    }
  }
  return {};
}

}  // namespace

Verdict check_whole_library(const Subject& subject, std::uint64_t seed) {
  const auto ranker = subject.make();
  World world = life_of(subject, seed);
  for (int round = 0; round < 4; ++round) {
    if (std::string trouble = world.run(*ranker, 20); !trouble.empty()) {
      return trouble;
    }
    if (Verdict verdict =
            subject.sublinear ? check_draws(*ranker, world) : check_scan(*ranker, world)) {
      return verdict;
    }
  }
  return {};
}

// Bernstein, as in conformance_law.cc: fewer than 10^3 cells, each a false alarm with probability
// 2 e^-25 at most.
Verdict check_library_law(const Subject& subject, std::uint64_t seed) {
  constexpr double kDraws = 12'000;
  constexpr double kLogAlarm = 25.0;
  if (!subject.sublinear) {
    return {};
  }
  const auto ranker = subject.make();
  World world = life_of(subject, seed);
  if (std::string trouble = world.run(*ranker, 60); !trouble.empty()) {
    return trouble;
  }
  const auto law = law_of(*ranker, world);
  if (!law.ok()) {
    return "a list of all was refused: " + to_string(law.error());
  }
  std::map<ItemIndex, double> first;
  for (std::uint64_t counter = 0; counter < static_cast<std::uint64_t>(kDraws); ++counter) {
    const auto decision = draw(*ranker, world, library_request(2, counter));
    if (!decision.ok()) {
      return "a valid request was refused: " + to_string(decision.error());
    }
    if (!decision->log_propensity) {
      return {};  // drawn again among the shown: no law over the library
    }
    first[decision->items[0]] += 1.0;
  }
  for (const auto& [item, prob] : law->first) {
    const double expected = prob * kDraws;
    const double allowed = std::sqrt(2 * expected * (1 - prob) * kLogAlarm) + kLogAlarm / 3;
    if (std::abs(first[item] - expected) > allowed) {
      return "an item said to be first with probability " + std::to_string(prob) + " was first " +
             std::to_string(first[item]) + " times in 12,000 draws";
    }
  }
  return {};
}

}  // namespace hindsight::testing
