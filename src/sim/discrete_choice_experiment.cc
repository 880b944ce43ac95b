#include "src/sim/discrete_choice_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "src/core/check.h"
#include "src/core/choice_rate.h"
#include "src/sim/choice_adversary.h"
#include "src/sim/order_learner.h"
#include "src/sim/repeated_runs.h"

namespace hindsight {
namespace {

double real(std::uint64_t n) { return static_cast<double>(n); }

/// About how many nanoseconds a round takes: what decides how many runs are played, and which
/// begin first.
double round_cost(std::string_view ranker, std::uint32_t items, std::uint32_t chosen) {
  const double n = real(items);
  const double k = real(chosen);
  if (ranker == "onlinerank-quicksort") {
    return 100.0 + n * (8.0 + 2.5 * k);
  }
  if (ranker == "fpl-gumbel") {
    return 180.0 + n * (5.5 + 0.4 * k);
  }
  if (ranker == "mw") {
    return 2.0 * std::tgamma(n + 1.0);
  }
  if (ranker == "permelearn") {
    return 30.0 * n * n;
  }
  if (ranker == "permutahedron") {
    return 50.0 + n * (6.0 + 0.3 * k);
  }
  return 50.0 + 0.6 * n * k;
}

struct Wish {
  double runs;    // for a standard error of about one per cent, on the uniform adversary
  double budget;  // but no more nanoseconds than this
  double least;
};

std::uint32_t planned_runs(const DiscreteChoiceOptions& options, const Wish& wish, double cost) {
  if (options.runs > 0) {
    return options.runs;
  }
  const double affordable = std::min(wish.runs, wish.budget / cost);
  return static_cast<std::uint32_t>(std::max(wish.least, std::ceil(options.effort * affordable)));
}

/// Of the regret on the uniform adversary the deviation is about 1/sqrt(n) of the mean.
Wish wish_for(std::string_view adversary, std::uint32_t items) {
  constexpr double kSecond = 1e9;
  return adversary == "uniform"
             ? Wish{.runs = 10'000.0 / real(items), .budget = 4.0 * kSecond, .least = 3.0}
             : Wish{.runs = 100.0, .budget = 0.3 * kSecond, .least = 2.0};
}

template <class Names>
Result<std::vector<std::string>> chosen_names(const std::vector<std::string>& wanted,
                                              const Names& known, std::string_view field) {
  std::vector<std::string> all(known.begin(), known.end());
  for (const std::string& name : wanted) {
    if (std::find(all.begin(), all.end(), name) == all.end()) {
      return Error{ErrorCode::kUnknownName,
                   fmt::format("there is no '{}'; there are {}", name, fmt::join(all, ", ")),
                   std::string(field)};
    }
  }
  return wanted.empty() ? all : wanted;
}

/// Rows without figures yet, and the games that will give them.
struct Plan {
  DiscreteChoiceResult result;
  std::vector<RepeatedGame> games;  // of result.rows, then of result.aggregation
};

RepeatedGame choice_runs(const DiscreteChoiceRow& row, double cost) {
  return {
      .play =
          [row](std::uint64_t seed) {
            auto learner = make_order_learner(row.ranker, choice_game(row.n, row.k, row.rounds));
            auto adversary = make_choice_adversary(
                row.adversary, {.items = row.n, .chosen = row.k, .rounds = row.rounds});
            HINDSIGHT_CHECK(learner.ok() && adversary.ok());
            const ChoicePlay play{
                .items = row.n, .chosen = row.k, .rounds = row.rounds, .loss = row.loss};
            const ChoicePoint last = play_choice_game(**learner, **adversary, play, seed).back();
            return RunOutcome{.loss = last.loss, .regret = last.regret};
          },
      .runs = row.runs,
      .cost = static_cast<std::uint64_t>(cost)};
}

RepeatedGame ranking_runs(const AggregationRow& row, double cost) {
  return {.play =
              [row](std::uint64_t seed) {
                auto learner = make_order_learner(row.ranker, ranking_game(row.n, row.rounds));
                auto sequence = make_ranking_sequence(row.sequence, row.n);
                HINDSIGHT_CHECK(learner.ok() && sequence.ok());
                return play_ranking_game(**learner, **sequence, row.n, row.rounds, seed);
              },
          .runs = row.runs,
          .cost = static_cast<std::uint64_t>(cost)};
}

void plan_choices(const DiscreteChoiceOptions& options, const std::string& adversary,
                  const std::string& ranker, std::uint32_t n, std::uint32_t k, Plan& plan) {
  for (const std::uint64_t rounds : options.rounds) {
    const double cost = real(rounds) * round_cost(ranker, n, k);
    const OrderGame game = choice_game(n, k, rounds);
    DiscreteChoiceRow row{.adversary = adversary,
                          .n = n,
                          .k = k,
                          .rounds = rounds,
                          .ranker = ranker,
                          .runs = planned_runs(options, wish_for(adversary, n), cost),
                          .loss = loss_kind_of(ranker),
                          .upper_bound = order_learner_bound(ranker, game),
                          .lower_bound = choice_lower_bound(n, rounds, k)};
    if (adversary == "uniform") {
      row.limit = uniform_choice_regret(n, rounds, k);
    }
    plan.games.push_back(choice_runs(row, cost));
    plan.result.rows.push_back(std::move(row));
  }
}

void plan_rankings(const DiscreteChoiceOptions& options, const std::vector<std::string>& rankers,
                   Plan& plan) {
  for (const std::string_view sequence : ranking_sequence_names()) {
    for (const std::uint32_t n : options.ranking_items) {
      for (const std::string& ranker : rankers) {
        for (const std::uint64_t rounds : options.ranking_rounds) {
          // What would be drawn has the expectation of OnlineRank.
          if (!order_learner_fits(ranker, n) || loss_kind_of(ranker) == LossKind::kDrawn) {
            continue;
          }
          const double cost =
              real(rounds) * (round_cost("onlinerank", n, n) + 50.0 * n + round_cost(ranker, n, 1));
          const Wish wish{.runs = 20.0, .budget = 0.5e9, .least = 4.0};
          AggregationRow row{.sequence = std::string(sequence),
                             .n = n,
                             .rounds = rounds,
                             .ranker = ranker,
                             .runs = planned_runs(options, wish, cost),
                             .upper_bound = order_learner_bound(ranker, ranking_game(n, rounds))};
          plan.games.push_back(ranking_runs(row, cost));
          plan.result.aggregation.push_back(std::move(row));
        }
      }
    }
  }
}

template <class T>
bool all_positive(const std::vector<T>& values, T least) {
  return std::all_of(values.begin(), values.end(), [least](T value) { return value >= least; });
}

Result<void> check_options(const DiscreteChoiceOptions& options) {
  constexpr std::uint64_t kMostRounds = 1'000'000'000;
  constexpr std::uint32_t kMostItems = 100'000;
  if (options.threads == 0) {
    return Error{ErrorCode::kInvalidArgument, "must be at least 1", "threads"};
  }
  if (!(options.effort > 0.0 && options.effort <= 1e6)) {
    return Error{ErrorCode::kInvalidArgument, "must lie above 0, and at 1,000,000 at most",
                 "effort"};
  }
  const auto too_many_items = [](std::uint32_t n) { return n > kMostItems; };
  if (!all_positive(options.items, 2U) || !all_positive(options.ranking_items, 2U) ||
      std::any_of(options.items.begin(), options.items.end(), too_many_items)) {
    return Error{ErrorCode::kInvalidArgument,
                 "an order needs at least two items; at most 100,000 are played", "items"};
  }
  if (!all_positive(options.choices, 1U)) {
    return Error{ErrorCode::kInvalidArgument, "at least one item is chosen in a round", "choices"};
  }
  const auto too_many_rounds = [](std::uint64_t rounds) { return rounds > kMostRounds; };
  if (!all_positive(options.rounds, std::uint64_t{1}) ||
      std::any_of(options.rounds.begin(), options.rounds.end(), too_many_rounds)) {
    return Error{ErrorCode::kInvalidArgument, "must be from 1 to 1,000,000,000", "rounds"};
  }
  return {};
}

Result<Plan> make_plan(const DiscreteChoiceOptions& options) {
  HINDSIGHT_RETURN_IF_ERROR(check_options(options));
  HINDSIGHT_ASSIGN_OR_RETURN(
      const std::vector<std::string> adversaries,
      chosen_names(options.adversaries, choice_adversary_names(), "adversaries"));
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::string> rankers,
                             chosen_names(options.rankers, order_learner_names(), "rankers"));
  Plan plan;
  for (const std::string& adversary : adversaries) {
    for (const std::uint32_t n : options.items) {
      for (const std::uint32_t k : options.choices) {
        for (const std::string& ranker : rankers) {
          if (k <= n / 2 && order_learner_fits(ranker, n)) {
            plan_choices(options, adversary, ranker, n, k, plan);
          }
        }
      }
    }
  }
  if (plan.games.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "nothing can be played: at most half of the items may be chosen, and some rankers "
                 "are for few items",
                 "items"};
  }
  plan_rankings(options, rankers, plan);
  return plan;
}

}  // namespace

LossKind loss_kind_of(std::string_view ranker) {
  return ranker == "onlinerank-quicksort" || ranker == "fpl-gumbel" ? LossKind::kDrawn
                                                                    : LossKind::kExpected;
}

Result<DiscreteChoiceResult> run_discrete_choice(const DiscreteChoiceOptions& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(Plan plan, make_plan(options));
  const std::vector<RunMeans> means =
      play_repeatedly(plan.games, options.seed, options.threads, options.progress);
  std::size_t game = 0;
  for (DiscreteChoiceRow& row : plan.result.rows) {
    row.regret = means[game].regret.value();
    row.regret_error = means[game].regret.standard_error();
    ++game;
  }
  for (AggregationRow& row : plan.result.aggregation) {
    const double loss = means[game].loss.value();
    row.regret = means[game].regret.value();
    row.regret_error = means[game].regret.standard_error();
    row.spearman = mean_spearman(loss, row.n, row.rounds);
    row.best_spearman = mean_spearman(loss - row.regret, row.n, row.rounds);
    ++game;
  }
  return std::move(plan.result);
}

std::uint64_t discrete_choice_work(const DiscreteChoiceOptions& options) {
  const Result<Plan> plan = make_plan(options);
  return plan.ok() ? total_cost(plan->games) : 0;
}

}  // namespace hindsight
