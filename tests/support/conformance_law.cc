// Lists and their law.

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/support/conformance.h"
#include "tests/support/world.h"

namespace hindsight::testing {
namespace {

constexpr std::size_t kStepsBefore = 60;
constexpr double kRounding = 1e-9;

/// A ranker that has lived a while, and its world.
struct Lived {
  std::unique_ptr<Ranker> ranker;
  World world;
  std::string trouble = {};
};

Lived lived(const Subject& subject, std::uint64_t seed, std::size_t steps) {
  Lived made{subject.make(), life_of(subject, seed)};
  made.trouble = made.world.run(*made.ranker, steps);
  return made;
}

/// A request over the first n live items, with priors that give every third an advantage.
struct Asked {
  std::vector<ItemIndex> candidates;
  std::vector<double> prior;
  Request request = {};

  Asked(const Subject& subject, const World& world, std::size_t n, std::size_t k,
        std::uint64_t counter)
      : candidates(world.live().begin(), world.live().begin() + static_cast<std::ptrdiff_t>(n)) {
    for (std::size_t i = 0; i < n; ++i) {
      prior.push_back(i % 3 == 0 ? 0.7 : 0.0);
    }
    request.decision = {.source = 1, .counter = counter};
    request.time_ms = 1'000'000'000;
    request.candidates = candidates;
    request.prior = prior;
    request.k = k;
    request.user = 11;
    request.session = 12;
    request.group = 13;
    request.context_key = subject.refuses_context_keys ? 0 : 14;
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
};

bool all_finite_numbers(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool is_subset(std::vector<ItemIndex> part, std::vector<ItemIndex> whole) {
  std::sort(part.begin(), part.end());
  std::sort(whole.begin(), whole.end());
  return std::adjacent_find(part.begin(), part.end()) == part.end() &&
         std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

/// Some rankers cannot learn from one item out of several, and say so.
bool may_refuse(const Request& request, const Error& error) {
  return error.code == ErrorCode::kUnsupported && request.k == 1 && request.candidates.size() > 1;
}

Verdict check_list(const Request& request, const Decision& decision) {
  const std::size_t n = decision.items.size();
  if (decision.shown_count != request.k) {
    return "shows " + std::to_string(decision.shown_count) + " items where k is " +
           std::to_string(request.k);
  }
  if (!is_subset(decision.items, {request.candidates.begin(), request.candidates.end()})) {
    return "the list is not made of distinct candidates";
  }
  const std::size_t expected =
      decision.choice_set == ChoiceSet::kShown ? request.k : request.candidates.size();
  if (n != expected || decision.score.size() != n ||
      (!decision.prob_first.empty() && decision.prob_first.size() != n) ||
      (!decision.prior.empty() && decision.prior.size() != n)) {
    return "the choice set's parts have wrong sizes";
  }
  if (!all_finite_numbers(decision.score) || !all_finite_numbers(decision.prior)) {
    return "a score or prior is not finite";
  }
  if (decision.log_propensity && !(*decision.log_propensity <= kRounding)) {
    return "log_propensity is above 0 or not a number";
  }
  if (decision.id != request.decision || decision.time_ms != request.time_ms ||
      decision.user != request.user || decision.session != request.session ||
      decision.group != request.group || decision.context_key != request.context_key) {
    return "a field of the request was not copied";
  }
  if (decision.ranker.empty() || decision.aux.size() > Decision::kMaxAuxBytes) {
    return "no ranker's name, or aux is too long";
  }
  return {};
}

/// Runs `look` on decisions of every n up to 8 and every k.
template <class Look>
Verdict over_all_sizes(const Subject& subject, std::uint64_t seed, Look look) {
  for (const std::size_t steps : {std::size_t{10}, kStepsBefore}) {
    Lived life = lived(subject, seed, steps);
    if (!life.trouble.empty()) {
      return life.trouble;
    }
    for (std::size_t n = 1; n <= std::min<std::size_t>(8, life.world.live().size()); ++n) {
      for (std::size_t k = 1; k <= n; ++k) {
        const Asked asked(subject, life.world, n, k, 100 * n + k);
        Rng rng = Rng::for_decision(seed, asked.request.decision);
        const auto decision = life.ranker->rank(asked.request, life.world.signals(), rng);
        if (!decision.ok()) {
          if (may_refuse(asked.request, decision.error())) {
            continue;
          }
          return "a valid request was refused: " + to_string(decision.error());
        }
        if (Verdict verdict = look(life, asked.request, *decision)) {
          return "n = " + std::to_string(n) + ", k = " + std::to_string(k) + ": " + *verdict;
        }
      }
    }
  }
  return {};
}

/// How often a list or item came out, and what the ranker said of its probability.
struct Outcome {
  double said = 0.0;
  std::size_t count = 0;
};

constexpr std::size_t kDraws = 12'000;

/// Bernstein: a count of N draws of probability p is off by more than
/// sqrt(2 N p (1 - p) x) + x / 3 with probability at most 2 e^-x. x = 25 and fewer than 10^4 cells
/// in the whole suite give a false alarm below 3e-7.
bool count_fits(const Outcome& outcome) {
  constexpr double kLogAlarm = 25.0;
  const double p = std::clamp(outcome.said, 0.0, 1.0);
  const double expected = p * kDraws;
  const double allowed =
      std::sqrt(2 * expected * (1 - p) * kLogAlarm) + kLogAlarm / 3 + kDraws * kRounding;
  return std::abs(static_cast<double>(outcome.count) - expected) <= allowed;
}

/// The law as 12,000 draws show it.
struct DrawnLaw {
  std::map<std::vector<ItemIndex>, Outcome> lists;
  std::map<ItemIndex, Outcome> first;
  bool with_propensity = true;
  bool with_first = true;
};

Verdict note(const Decision& decision, DrawnLaw& law) {
  const auto shown = decision.shown();
  if (decision.log_propensity) {
    const double said = std::exp(*decision.log_propensity);
    Outcome& outcome = law.lists[{shown.begin(), shown.end()}];
    if (outcome.count > 0 && outcome.said != said) {
      return "the same list has two propensities";
    }
    outcome.said = said;
    ++outcome.count;
  }
  law.with_propensity = law.with_propensity && decision.log_propensity.has_value();
  law.with_first = law.with_first && !decision.prob_first.empty();
  for (std::size_t i = 0; i < decision.items.size(); ++i) {
    law.first[decision.items[i]].said = decision.first_prob(i).value_or(0.0);
  }
  ++law.first[shown[0]].count;
  return {};
}

Verdict judge(const DrawnLaw& law, bool whole_first_law) {
  std::map<ItemIndex, double> first_by_lists;
  double total = 0.0;
  for (const auto& [list, outcome] : law.lists) {
    total += outcome.said;
    first_by_lists[list[0]] += outcome.said;
    if (!count_fits(outcome)) {
      return "a list said to have probability " + std::to_string(outcome.said) + " came " +
             std::to_string(outcome.count) + " times in " + std::to_string(kDraws) + " draws";
    }
  }
  // What never came out in N draws has mass above its mean + a with probability at most e^(-N a^2)
  // (McAllester and Ortiz 2003); the mean is at most 24 / (e N). a = 0.04 gives 5e-9.
  constexpr double kUnseen = 0.04 + 24 / (2.718 * kDraws);
  if (law.with_propensity && (total > 1 + kRounding || total < 1 - kUnseen)) {
    return "the propensities of all lists sum to " + std::to_string(total);
  }
  if (!law.with_first) {
    return {};
  }
  const double unseen = std::max(0.0, 1 - total) + kRounding;
  for (const auto& [item, outcome] : law.first) {
    if ((whole_first_law || law.with_propensity) && !count_fits(outcome)) {
      return "an item said to be first with probability " + std::to_string(outcome.said) +
             " was first " + std::to_string(outcome.count) + " times in " + std::to_string(kDraws) +
             " draws";
    }
    const double by_lists = first_by_lists[item];
    if (law.with_propensity &&
        (by_lists > outcome.said + kRounding || by_lists < outcome.said - unseen)) {
      return "prob_first " + std::to_string(outcome.said) + " is not the sum of the lists " +
             std::to_string(by_lists);
    }
  }
  return {};
}

}  // namespace

Verdict check_lists_are_valid(const Subject& subject, std::uint64_t seed) {
  return over_all_sizes(
      subject, seed, [](const Lived& /*life*/, const Request& request, const Decision& decision) {
        return check_list(request, decision);
      });
}

Verdict check_list_probability(const Subject& subject, std::uint64_t seed) {
  return over_all_sizes(
      subject, seed, [](const Lived& life, const Request& request, const Decision& decision) {
        return check_own_probability(*life.ranker, life.world.signals(), request, decision);
      });
}

Verdict check_own_probability(const Ranker& ranker, const Signals& signals, const Request& request,
                              const Decision& decision) {
  const auto said = ranker.list_probability(request, signals, decision.shown());
  if (!said.ok()) {
    return "the probability of its own list was refused: " + to_string(said.error());
  }
  if (!said->log_list && !said->first) {
    return {};  // it knows no law of lists that it did not draw
  }
  if (!said->log_list || !decision.log_propensity ||
      std::abs(*said->log_list - *decision.log_propensity) > kRounding) {
    return "its own list has another probability than when it was drawn";
  }
  if (decision.prob_first.empty()) {
    return said->first ? Verdict("it knows the law of the first item, but did not say it")
                       : Verdict();
  }
  if (!said->first || std::abs(*said->first - decision.prob_first[0]) > kRounding) {
    return "its own first item has another probability than when it was drawn";
  }
  const auto begins = ranker.list_probability(request, signals, decision.shown().first(1));
  if (!begins.ok() || !begins->log_list ||
      std::abs(std::exp(*begins->log_list) - *said->first) > kRounding) {
    return "a list of one is not as likely as its first item";
  }
  return {};
}

Verdict check_first_slots(const Subject& subject, std::uint64_t seed) {
  return over_all_sizes(
      subject, seed,
      [](const Lived& /*life*/, const Request& request, const Decision& decision) -> Verdict {
        double sum = 0.0;
        for (const double prob : decision.prob_first) {
          if (!(prob >= 0.0)) {
            return "prob_first is negative or not a number";
          }
          sum += prob;
        }
        const bool whole = decision.prob_first.size() == request.candidates.size();
        if (sum > 1 + kRounding || (whole && sum < 1 - kRounding)) {
          return "prob_first sums to " + std::to_string(sum);
        }
        return {};
      });
}

Verdict check_list_law(const Subject& subject, std::uint64_t seed) {
  constexpr std::pair<std::size_t, std::size_t> kSizes[] = {{1, 1}, {3, 3}, {4, 2}, {4, 4}};
  for (const std::size_t steps : {std::size_t{10}, kStepsBefore}) {
    const Lived life = lived(subject, seed, steps);
    if (!life.trouble.empty()) {
      return life.trouble;
    }
    for (const auto& [n, k] : kSizes) {
      DrawnLaw law;
      Asked asked(subject, life.world, n, k, 0);
      for (std::size_t draw = 0; draw < kDraws; ++draw) {
        asked.request.decision.counter = draw;
        Rng rng = Rng::for_decision(seed, asked.request.decision);
        const auto decision = life.ranker->rank(asked.request, life.world.signals(), rng);
        if (!decision.ok()) {
          return "a valid request was refused: " + to_string(decision.error());
        }
        if (Verdict verdict = note(*decision, law)) {
          return verdict;
        }
        if (!law.with_propensity && !law.with_first) {
          break;  // no law was said: there is nothing to hold the draws against
        }
      }
      if (Verdict verdict = judge(law, k == n)) {
        return "n = " + std::to_string(n) + ", k = " + std::to_string(k) + ": " + *verdict;
      }
    }
  }
  return {};
}

}  // namespace hindsight::testing
