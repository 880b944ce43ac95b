// The synthetic duels of [Yue09] 5.1: value functions over a ball, compared through a logistic
// link, and the three methods that learn from such comparisons.
//
//   DBGD   sees who won, and steps towards a rival that did (Algorithm 1)
//   BGD1   sees P(w_t beats w'_t), and steps against it ([Flaxman05])
//   BGD2   sees P(w_t beats w'_t) - 1/2, whose sign says where to go
//
// All values have their maximum at the origin. |w| of P2 is the sum of the absolute values: with
// the Euclidean length regrets come out at 0.45 to 0.72, far below the paper's row.
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

enum class DuelProblem : std::uint8_t { kP1, kP2, kP3, kP4, kP5 };
inline constexpr DuelProblem kDuelProblems[] = {
    DuelProblem::kP1, DuelProblem::kP2, DuelProblem::kP3, DuelProblem::kP4, DuelProblem::kP5};
/// "P1", ...
std::string_view duel_problem_name(DuelProblem problem);

enum class DuelMethod : std::uint8_t { kDbgd, kBgd1, kBgd2 };
inline constexpr DuelMethod kDuelMethods[] = {DuelMethod::kDbgd, DuelMethod::kBgd1,
                                              DuelMethod::kBgd2};
/// "DBGD", ...
std::string_view duel_method_name(DuelMethod method);

/// v(w). `scratch` is overwritten. REQUIRES: scratch at least as long as w
double duel_value(DuelProblem problem, std::span<const double> w, std::span<double> scratch);

struct DuelRunParams {
  DuelProblem problem = DuelProblem::kP1;
  DuelMethod method = DuelMethod::kDbgd;
  double delta_l = 1.0;
  std::size_t dim = 50;
  double radius = 10.0;
  std::uint64_t rounds = 1'000'000;
  std::uint64_t seed = 1;
  std::uint64_t stream = 0;
  std::size_t curve_points = 0;  // spread evenly over the rounds; 0: no curve
};

struct DuelRun {
  double avg_regret = 0.0;    // Delta_T / T, [Yue09] Eq. (2)
  std::vector<double> curve;  // the average regret of the rounds so far, at each point
};

/// Plays all rounds from w_1 = sqrt(5 / d) in every coordinate. `progress` may be empty; it is
/// told of rounds that are done. FAILS: kInvalidArgument (sizes; more points than rounds)
Result<DuelRun> run_duels(const DuelRunParams& params,
                          const std::function<void(std::uint64_t)>& progress = {});

}  // namespace hindsight
