#include "src/sim/click_bandit_experiment.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/core/check.h"
#include "src/sim/click_bandit_play.h"
#include "src/sim/click_learner.h"
#include "src/sim/parallel.h"

namespace hindsight {
namespace {

constexpr std::size_t kPlaces = 10;
constexpr std::size_t kDim = 5;
constexpr std::uint64_t kQuickShare = 100;

std::vector<double> each_place(const std::function<double(double)>& value) {
  std::vector<double> out;
  for (std::size_t k = 1; k <= kPlaces; ++k) {
    out.push_back(value(static_cast<double>(k)));
  }
  return out;
}

/// Gaussian items and a click model over them.
std::function<Result<ClickScene>(std::uint64_t)> synthetic(std::size_t items,
                                                           const ClickModelParams& clicks) {
  return [items, clicks](std::uint64_t seed) -> Result<ClickScene> {
    Rng rng(seed);
    HINDSIGHT_ASSIGN_OR_RETURN(LinearWorld world, make_linear_world(items, kDim, rng));
    ClickModelParams params = clicks;
    params.positions = kPlaces;
    params.attraction = world.attraction;
    HINDSIGHT_ASSIGN_OR_RETURN(ClickModel model, ClickModel::make(std::move(params)));
    return ClickScene{.world = std::move(world), .model = std::move(model)};
  };
}

/// One environment, one ranker, one run.
struct Job {
  const ClickEnvironment* environment;
  const std::string* ranker;
  std::uint64_t seed;
  std::optional<ClickPlay> play = {};
  std::optional<Error> error = {};
};

Result<ClickPlay> run_job(const Job& job, const ClickBanditOptions& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(const ClickScene scene, job.environment->make(job.seed));
  const std::uint64_t rounds = job.environment->rounds;
  HINDSIGHT_ASSIGN_OR_RETURN(
      const std::unique_ptr<ClickLearner> learner,
      make_click_learner(*job.ranker, scene.world,
                         {.positions = scene.model.positions(), .horizon = rounds}));
  return play_clicks(scene.model, *learner, curve_rounds(rounds, options.curve_points), job.seed,
                     options.progress);
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double standard_error_of(const std::vector<double>& values) {
  if (values.size() < 2) {
    return 0.0;
  }
  const double mean = mean_of(values);
  double squares = 0.0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  const auto n = static_cast<double>(values.size());
  return std::sqrt(squares / (n * (n - 1.0)));
}

ClickBanditRow summarise(const ClickEnvironment& environment, const std::string& ranker,
                         std::span<const Job> jobs, std::size_t points) {
  ClickBanditRow row{.environment = environment.name,
                     .ranker = ranker,
                     .rounds = environment.rounds,
                     .runs = static_cast<std::uint32_t>(jobs.size()),
                     .regret_mean = 0.0,
                     .regret_se = {},
                     .curve_rounds = curve_rounds(environment.rounds, points),
                     .curve_mean = {},
                     .curve_se = {}};
  std::vector<double> values(jobs.size());
  for (std::size_t point = 0; point < row.curve_rounds.size(); ++point) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      values[i] = jobs[i].play->regret[point];
    }
    row.curve_mean.push_back(mean_of(values));
    row.curve_se.push_back(standard_error_of(values));
  }
  row.regret_mean = row.curve_mean.back();
  row.regret_least = *std::min_element(values.begin(), values.end());
  row.regret_most = *std::max_element(values.begin(), values.end());
  if (jobs.size() > 1) {
    row.regret_se = row.curve_se.back();
  }
  for (const Job& job : jobs) {
    row.ns_per_round += 1e9 * job.play->seconds /
                        (static_cast<double>(row.rounds) * static_cast<double>(jobs.size()));
  }
  return row;
}

std::vector<std::string> rankers_of(const ClickBanditOptions& options) {
  const auto all = click_learner_names();
  return options.rankers.empty() ? std::vector<std::string>(all.begin(), all.end())
                                 : options.rankers;
}

}  // namespace

std::vector<ClickEnvironment> click_model_environments(bool quick) {
  const std::uint64_t share = quick ? kQuickShare : 1;
  const std::size_t items = quick ? 1'000 : 10'000;
  const std::size_t few = 1'000;  // of the stress page, which need not be large
  const auto bias = each_place([](double k) { return 1.0 / k; });
  const auto rising = each_place([](double k) { return k / static_cast<double>(kPlaces); });
  const auto falling = each_place([](double k) { return 1.0 - k / static_cast<double>(kPlaces); });
  const auto patience = each_place([](double /*k*/) { return 0.7; });
  const auto model = [](ClickKind kind, std::vector<double> by_place,
                        std::vector<double> go_on) -> ClickModelParams {
    return {.kind = kind,
            .positions = 0,
            .attraction = {},
            .bias = std::move(by_place),
            .go_on = std::move(go_on)};
  };
  return {
      {.name = "cascade",
       .title = "Cascade clicks",
       .remark = "The user reads from the top and stops at the first click.",
       .rounds = 500'000 / share,
       .log_scale = true,
       .stress = false,
       .make = synthetic(items, model(ClickKind::kCascade, {}, {}))},
      {.name = "position",
       .title = "Position-based clicks",
       .remark = "Place k is read with probability 1/k.",
       .rounds = 5'000'000 / share,
       .log_scale = false,
       .stress = false,
       .make = synthetic(items, model(ClickKind::kPosition, bias, {}))},
      {.name = "dependent",
       .title = "Dependent clicks",
       .remark = "After a click at place k the user goes on with probability 1 - k/10: several "
                 "clicks, and Assumption 1 does not hold.",
       .rounds = 500'000 / share,
       .log_scale = false,
       .stress = true,
       .make = synthetic(few, model(ClickKind::kDependent, {}, falling))},
      {.name = "impatient",
       .title = "An impatient user",
       .remark = "After an item that is passed over the user goes on with probability 0.7: good "
                 "lists are read further, against Assumption 3.",
       .rounds = 500'000 / share,
       .log_scale = false,
       .stress = true,
       .make = synthetic(few, model(ClickKind::kImpatient, {}, patience))},
      {.name = "rising",
       .title = "A rising position bias",
       .remark = "Place k is read with probability k/10, against Assumption 2; the list A* is the "
                 "worst order of its items.",
       .rounds = 500'000 / share,
       .log_scale = false,
       .stress = true,
       .make = synthetic(few, model(ClickKind::kPosition, rising, {}))},
  };
}

ClickEnvironment movielens_environment(const MovieRatings& ratings, bool quick) {
  const std::uint64_t rounds = quick ? 2'000'000 / kQuickShare : 2'000'000;
  return {.name = "document",
          .title = "MovieLens, document-based clicks",
          .remark = "Every place is read; attractiveness is linear in features from ratings.",
          .rounds = rounds,
          .log_scale = false,
          .stress = false,
          .make = [&ratings](std::uint64_t seed) -> Result<ClickScene> {
            HINDSIGHT_ASSIGN_OR_RETURN(LinearWorld world, make_movie_world(ratings, {}, seed));
            ClickModelParams params{
                .kind = ClickKind::kDocument, .positions = kPlaces, .attraction = world.attraction};
            HINDSIGHT_ASSIGN_OR_RETURN(ClickModel model, ClickModel::make(std::move(params)));
            return ClickScene{.world = std::move(world), .model = std::move(model)};
          }};
}

std::uint64_t total_rounds(const std::vector<ClickEnvironment>& environments,
                           const ClickBanditOptions& options) {
  std::uint64_t rounds = 0;
  for (const ClickEnvironment& environment : environments) {
    rounds += environment.rounds * options.runs * rankers_of(options).size();
  }
  return rounds;
}

Result<std::vector<ClickBanditRow>> run_click_bandits(
    const std::vector<ClickEnvironment>& environments, const ClickBanditOptions& options) {
  if (options.runs == 0 || options.threads == 0 || options.curve_points == 0) {
    return Error{ErrorCode::kInvalidArgument, "must be at least 1",
                 options.runs == 0 ? "runs" : "threads"};
  }
  const std::vector<std::string> rankers = rankers_of(options);
  for (const std::string& ranker : rankers) {
    HINDSIGHT_RETURN_IF_ERROR(check_click_learner_name(ranker));
  }
  std::vector<Job> jobs;
  for (const ClickEnvironment& environment : environments) {
    for (const std::string& ranker : rankers) {
      for (std::uint32_t run = 0; run < options.runs; ++run) {
        jobs.push_back(
            {.environment = &environment, .ranker = &ranker, .seed = options.seed + run});
      }
    }
  }
  run_jobs(jobs.size(), options.threads, [&](std::size_t i) {
    Result<ClickPlay> play = run_job(jobs[i], options);
    if (play.ok()) {
      jobs[i].play = *std::move(play);
    } else {
      jobs[i].error = play.error();
    }
  });
  std::vector<ClickBanditRow> rows;
  for (std::size_t i = 0; i < jobs.size(); i += options.runs) {
    const auto runs = std::span<const Job>(jobs).subspan(i, options.runs);
    for (const Job& job : runs) {
      if (job.error) {
        return *job.error;
      }
    }
    rows.push_back(summarise(*jobs[i].environment, *jobs[i].ranker, runs, options.curve_points));
  }
  return rows;
}

}  // namespace hindsight
