#include "src/sim/duel_world.h"

#include <algorithm>
#include <cmath>

#include "hindsight/random.h"
#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/duel_step.h"
#include "src/core/kernels.h"
#include "src/core/unit_vector.h"

namespace hindsight {
namespace {

constexpr std::uint64_t kProgressEvery = 1 << 14;

double v2(std::span<const double> w) {
  double lengths = 0.0;
  for (const double x : w) {
    lengths += std::abs(x);
  }
  return -lengths;
}

// Coordinates count from 1 in the paper: the first is odd.
double v3(std::span<const double> w) {
  double squares = 0.0;
  double lengths = 0.0;
  for (std::size_t i = 0; i < w.size(); i += 2) {
    squares += w[i] * w[i];
  }
  for (std::size_t i = 1; i < w.size(); i += 2) {
    lengths += std::abs(w[i]);
  }
  return -squares - lengths;
}

double v4(std::span<const double> w, std::span<double> scratch) {
  const std::span<double> out = scratch.first(w.size());
  const double up = exp_shifted(w, 0.0, out);
  for (std::size_t i = 0; i < w.size(); ++i) {
    out[i] = -w[i];
  }
  return -up - exp_shifted(out, 0.0, out);
}

double v5(std::span<const double> w, std::span<double> scratch) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < w.size(); i += 3) {  // i % 3 = 1
    scratch[count++] = std::max(w[i], 0.0);
  }
  for (std::size_t i = 1; i < w.size(); i += 3) {  // i % 3 = 2
    scratch[count++] = std::max(-w[i], 0.0);
  }
  const std::span<double> exponents = scratch.first(count);
  return v3(w) - exp_shifted(exponents, 0.0, exponents);
}

/// One learner in its world.
class Duellist {
 public:
  Duellist(const DuelRunParams& params, const DuelSteps& steps)
      : params_(params),
        steps_(steps),
        space_{.kind = WeightSpace::Kind::kBall, .radius = params.radius},
        rng_(params.seed, params.stream),
        w_(params.dim, std::sqrt(5.0 / static_cast<double>(params.dim))),
        rival_(params.dim),
        direction_(params.dim),
        scratch_(params.dim) {
    const std::vector<double> origin(params.dim, 0.0);
    best_ = value(origin);
    project(space_, w_);
    value_ = value(w_);
  }

  /// RETURNS: the round's regret.
  double play() {
    draw_unit_vector(rng_, direction_);
    move_along(space_, w_, direction_, steps_.probe, rival_);
    const double rival_value = value(rival_);
    const double regret = det_logistic(best_ - value_) + det_logistic(best_ - rival_value) - 1.0;
    const double length = step_length(det_logistic(value_ - rival_value));
    if (length != 0.0) {
      move_along(space_, w_, direction_, length, w_);
      value_ = value(w_);
    }
    return regret;
  }

 private:
  double value(std::span<const double> w) { return duel_value(params_.problem, w, scratch_); }

  /// How far to go along the direction, given P(w_t beats the rival).
  double step_length(double current_wins) {
    switch (params_.method) {
      case DuelMethod::kDbgd:
        return rng_.uniform() < current_wins ? 0.0 : steps_.step;
      case DuelMethod::kBgd1:
        return -steps_.step * current_wins;
      case DuelMethod::kBgd2:
        return -steps_.step * (current_wins - 0.5);
    }
    return 0.0;
  }

  DuelRunParams params_;
  DuelSteps steps_;
  WeightSpace space_;
  Rng rng_;
  std::vector<double> w_;
  std::vector<double> rival_;
  std::vector<double> direction_;
  std::vector<double> scratch_;
  double best_ = 0.0;
  double value_ = 0.0;
};

}  // namespace

std::string_view duel_problem_name(DuelProblem problem) {
  constexpr std::string_view kNames[] = {"P1", "P2", "P3", "P4", "P5"};
  return kNames[static_cast<std::size_t>(problem)];
}

std::string_view duel_method_name(DuelMethod method) {
  constexpr std::string_view kNames[] = {"DBGD", "BGD1", "BGD2"};
  return kNames[static_cast<std::size_t>(method)];
}

double duel_value(DuelProblem problem, std::span<const double> w, std::span<double> scratch) {
  HINDSIGHT_CHECK(scratch.size() >= w.size());
  switch (problem) {
    case DuelProblem::kP1:
      return -dot(w, w);
    case DuelProblem::kP2:
      return v2(w);
    case DuelProblem::kP3:
      return v3(w);
    case DuelProblem::kP4:
      return v4(w, scratch);
    case DuelProblem::kP5:
      return v5(w, scratch);
  }
  return 0.0;
}

Result<DuelRun> run_duels(const DuelRunParams& params,
                          const std::function<void(std::uint64_t)>& progress) {
  HINDSIGHT_ASSIGN_OR_RETURN(const DuelSteps steps,
                             section5_steps(params.radius, params.dim, params.delta_l,
                                            static_cast<double>(params.rounds)));
  if (params.curve_points > params.rounds) {
    return Error{ErrorCode::kInvalidArgument, "there are fewer rounds than points", "curve_points"};
  }
  Duellist duellist(params, steps);
  DuelRun run;
  double regret = 0.0;
  std::uint64_t told = 0;
  for (std::uint64_t t = 1; t <= params.rounds; ++t) {
    regret += duellist.play();
    if (run.curve.size() < params.curve_points &&
        t * params.curve_points >= (run.curve.size() + 1) * params.rounds) {
      run.curve.push_back(regret / static_cast<double>(t));
    }
    if (progress && (t % kProgressEvery == 0 || t == params.rounds)) {
      progress(t - told);
      told = t;
    }
  }
  run.avg_regret = regret / static_cast<double>(params.rounds);
  return run;
}

}  // namespace hindsight
