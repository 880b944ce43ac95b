// The experiment `discrete-choice`: the game of [Ailon13] at many sizes.
//
// Every method that can be played at a size (src/sim/order_learner.h) meets every adversary
// (src/sim/choice_adversary.h), for every number of items n, of choices k up to n/2, and of rounds
// T, each a game of its own, since a method's rate depends on T. The regret after T rounds is
// averaged over runs; run r of every game of an (adversary, n, k, T) meets the same choices.
//
// What a round costs is the expected position of the chosen items over the method's coins, which
// takes no draw: exact, and with less noise. QuickSort and the leader with Gumbel noise have the
// same expectation as PlackettLuce; so that there is something to see, theirs are drawn, but only
// the positions of the chosen items.
//
// Thread-safety: functions of their arguments.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"
#include "src/sim/choice_play.h"
#include "src/sim/ranking_play.h"

namespace hindsight {

struct DiscreteChoiceOptions {
  std::vector<std::string> adversaries;  // empty: all
  std::vector<std::string> rankers;      // empty: all
  std::vector<std::uint32_t> items = {6, 10, 100, 1'000};
  std::vector<std::uint32_t> choices = {1, 5};  // those above n/2 are left out
  std::vector<std::uint64_t> rounds = {100, 1'000, 10'000, 100'000, 1'000'000};
  std::vector<std::uint32_t> ranking_items = {6, 10, 50};
  std::vector<std::uint64_t> ranking_rounds = {100, 1'000, 10'000};
  std::uint32_t runs = 0;  // 0: more where they are cheap, and more for the uniform adversary
  double effort = 1.0;     // multiplies the runs that are chosen so
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;
  /// Called from any thread with the work done since the last call; may be empty.
  std::function<void(std::uint64_t)> progress;
};

/// One method against one adversary at one size.
struct DiscreteChoiceRow {
  std::string adversary;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
  std::uint64_t rounds = 0;
  std::string ranker;
  std::uint32_t runs = 0;
  LossKind loss = LossKind::kExpected;
  double regret = 0.0;
  std::optional<double> regret_error = {};  // standard error over runs; none of a single run
  double upper_bound = 0.0;                 // what the method promises
  double lower_bound = 0.0;                 // what no method can promise (Theorem 3.3)
  std::optional<double> limit = {};  // uniform adversary: what every method's regret tends to

  /// RETURNS: whether there are enough rounds for the limit to be near: T >= 1000 n / k.
  bool near_limit() const { return limit && rounds * k >= std::uint64_t{1'000} * n; }
};

/// One method on one sequence of rankings ([Ailon13] Corollary 5.1).
struct AggregationRow {
  std::string sequence;
  std::uint32_t n = 0;
  std::uint64_t rounds = 0;
  std::string ranker;
  std::uint32_t runs = 0;
  double regret = 0.0;
  std::optional<double> regret_error = {};
  double upper_bound = 0.0;
  double spearman = 0.0;       // mean correlation of what was played with what came
  double best_spearman = 0.0;  // the same of the best order in hindsight
};

struct DiscreteChoiceResult {
  std::vector<DiscreteChoiceRow> rows;
  std::vector<AggregationRow> aggregation;
};

/// FAILS: kInvalidArgument (threads, effort or a size of 0; sizes at which nothing can be played),
/// kUnknownName (adversaries, rankers)
Result<DiscreteChoiceResult> run_discrete_choice(const DiscreteChoiceOptions& options);

/// RETURNS: the work of all of it: the total for a progress bar. REQUIRES: valid options
std::uint64_t discrete_choice_work(const DiscreteChoiceOptions& options);

/// RETURNS: how the losses of a method are counted in this experiment.
LossKind loss_kind_of(std::string_view ranker);

}  // namespace hindsight
