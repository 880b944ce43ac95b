#include "src/sim/dueling_letor_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "src/core/check.h"
#include "src/core/feature_rows.h"
#include "src/core/kernels.h"
#include "src/core/metrics.h"
#include "src/sim/parallel.h"
#include "src/sim/yue_tables.h"

namespace hindsight {
namespace {

constexpr std::uint64_t kSweepSamples = 100;  // Table 2
constexpr double kSamplesDelta = 1.0;         // Table 3: the best of Table 2, which is flat in it
constexpr std::array<double, 7> kSvmC = {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1};
constexpr const char* kClickRankers[] = {"dbgd", "mgd", "pdgd"};
constexpr double kSame = 1e-9;  // NDCGs nearer than this are equal
/// Streams of random numbers: each part of the experiment has its own range.
constexpr std::uint64_t kClickStreams = 1'000'000;

struct Fold {
  RetrievalSet train;
  RetrievalSet vali;
  RetrievalSet test;
};

Result<Fold> make_fold(const LetorParts& data, std::size_t f) {
  const auto part = [&](std::size_t i) { return &data.parts[(f + i) % kLetorFolds]; };
  std::array<const JudgedSet*, 3> train = {part(0), part(1), part(2)};
  HINDSIGHT_ASSIGN_OR_RETURN(RetrievalSet made_train, RetrievalSet::make(join_sets(train)));
  HINDSIGHT_ASSIGN_OR_RETURN(RetrievalSet vali, RetrievalSet::make(*part(3)));
  HINDSIGHT_ASSIGN_OR_RETURN(RetrievalSet test, RetrievalSet::make(*part(4)));
  return Fold{std::move(made_train), std::move(vali), std::move(test)};
}

/// What one method reached on one fold.
struct Outcome {
  double train = 0.0;
  double vali = 0.0;
  double test = 0.0;
  double average = 0.0;
  double c = 0.0;                     // of the SVM
  std::vector<double> test_by_query;  // of methods with weights
  std::vector<double> curve;
};

/// A row of the findings and how it is obtained on a fold.
struct Plan {
  DuelingLetorRow row;
  std::function<Result<Outcome>(const Fold&, std::uint64_t stream)> run;
  std::vector<Outcome> outcomes = {};
};

Outcome judge_weights(const Fold& fold, std::span<const double> weights) {
  Outcome outcome;
  outcome.train = fold.train.mean_ndcg(weights);
  outcome.vali = fold.vali.mean_ndcg(weights);
  outcome.test_by_query = fold.test.ndcg_by_query(weights);
  outcome.test = sum_of(outcome.test_by_query) / static_cast<double>(outcome.test_by_query.size());
  return outcome;
}

Plan svm_plan() {
  return {.row = {.ranker = "ranking-svm", .clicks = ""},
          .run = [](const Fold& fold, std::uint64_t) -> Result<Outcome> {
            Outcome best;
            best.vali = -1.0;
            for (const double c : kSvmC) {
              HINDSIGHT_ASSIGN_OR_RETURN(const NewtonResult svm,
                                         train_ranking_svm(fold.train.view(), c));
              Outcome outcome = judge_weights(fold, svm.theta);
              outcome.c = c;
              if (outcome.vali > best.vali) {
                best = std::move(outcome);
              }
            }
            return best;
          }};
}

Plan link_plan(const DuelingLetorOptions& options, double delta, double gamma,
               std::uint64_t samples) {
  return {.row = {.ranker = "dbgd",
                  .clicks = "link",
                  .delta = delta,
                  .gamma = gamma,
                  .samples = samples,
                  .rounds = options.link_rounds},
          .run = [=, &options](const Fold& fold, std::uint64_t stream) -> Result<Outcome> {
            const LinkDuelParams params{.steps = {.probe = delta, .step = gamma},
                                        .samples = samples,
                                        .rounds = options.link_rounds,
                                        .seed = options.seed,
                                        .stream = stream};
            HINDSIGHT_ASSIGN_OR_RETURN(const LinkDuelResult result,
                                       run_link_duels(fold.train, params, options.progress));
            Outcome outcome = judge_weights(fold, result.weights);
            outcome.average = result.average_ndcg;
            return outcome;
          }};
}

/// The longest feature vector, rounded up: rankers want to know it beforehand.
double feature_bound(const LetorParts& data) {
  double squared = 1.0;
  for (const JudgedSet& part : data.parts) {
    for (const JudgedQuery& query : part.queries) {
      const FeatureRows rows{.dense_dim = part.dim, .dense = query.features};
      for (std::size_t i = 0; i < query.documents(); ++i) {
        squared = std::max(squared, squared_row_norm(rows, i));
      }
    }
  }
  return std::ceil(std::sqrt(squared));
}

Plan click_plan(const DuelingLetorOptions& options, const RankerFactory& factory,
                const std::string& ranker, UserKind user, double bound,
                const std::vector<std::uint64_t>& points) {
  const bool duels = ranker != "pdgd";
  ParamMap params = {{"feature_bound", bound}};
  Plan plan{.row = {.ranker = ranker,
                    .clicks = std::string(user_kind_name(user)),
                    .rounds = options.click_rounds},
            .run = {}};
  if (duels) {
    plan.row.delta = 1.0;
    plan.row.gamma = 0.01;
    plan.row.samples = 1;
    params.emplace("delta", *plan.row.delta);
    params.emplace("gamma", *plan.row.gamma);
  }
  plan.run = [=, &options, &factory, &points](const Fold& fold,
                                              std::uint64_t stream) -> Result<Outcome> {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::unique_ptr<Ranker> made, factory(ranker, params));
    const ClickRunParams run{.user = user,
                             .rounds = options.click_rounds,
                             .seed = options.seed,
                             .stream = kClickStreams + stream,
                             .points = points};
    HINDSIGHT_ASSIGN_OR_RETURN(ClickRunResult result,
                               run_clicks(*made, fold.train, fold.test, run, options.progress));
    Outcome outcome;
    outcome.train = result.train_ndcg;
    outcome.test = result.final_ndcg;
    outcome.curve = std::move(result.test_ndcg);
    return outcome;
  };
  return plan;
}

/// 1, 2, 5, 10, 20, ... up to and with `rounds`.
std::vector<std::uint64_t> curve_points(std::uint64_t rounds) {
  std::vector<std::uint64_t> points;
  for (std::uint64_t power = 1; power < rounds; power *= 10) {
    for (const std::uint64_t factor : {1, 2, 5}) {
      if (factor * power < rounds) {
        points.push_back(factor * power);
      }
    }
  }
  points.push_back(rounds);
  return points;
}

void summarise(Plan& plan) {
  Mean test;
  const auto count = static_cast<double>(plan.outcomes.size());
  plan.row.curve.assign(plan.outcomes.front().curve.size(), 0.0);
  double average = 0.0;
  for (const Outcome& outcome : plan.outcomes) {
    test.add(outcome.test);
    plan.row.ndcg10_train += outcome.train / count;
    plan.row.ndcg10_vali += outcome.vali / count;
    average += outcome.average / count;
    for (std::size_t i = 0; i < plan.row.curve.size(); ++i) {
      plan.row.curve[i] += outcome.curve[i] / count;
    }
  }
  plan.row.ndcg10_test = test.value();
  plan.row.test_error = test.standard_error();
  if (plan.row.clicks == "link") {
    plan.row.ndcg10_average = average;
  }
}

WinTieLoss compare(const Plan& svm, const Plan& other) {
  WinTieLoss counts;
  for (std::size_t f = 0; f < svm.outcomes.size(); ++f) {
    for (std::size_t i = 0; i < svm.outcomes[f].test_by_query.size(); ++i) {
      const double lead = svm.outcomes[f].test_by_query[i] - other.outcomes[f].test_by_query[i];
      ++(lead > kSame ? counts.win : lead < -kSame ? counts.loss : counts.tie);
    }
  }
  return counts;
}

/// All rows, in an order that the findings are taken from.
struct Plans {
  std::vector<Plan> all;
  std::size_t sweep = 1;    // after the SVM
  std::size_t samples = 0;  // the others of Table 3: sample count by sample count, gamma by gamma
  std::size_t clicks = 0;
};

Plans make_plans(const DuelingLetorOptions& options, const RankerFactory& factory, double bound,
                 const std::vector<std::uint64_t>& points) {
  Plans plans;
  plans.all.push_back(svm_plan());
  for (std::size_t d = 0; d < kYueDeltas.size(); ++d) {
    for (std::size_t g = 0; g < kYueGammas.size(); ++g) {
      plans.all.push_back(link_plan(options, kYueDeltas[d], kYueGammas[g], kSweepSamples));
      plans.all.back().row.paper_average = kYueTable2Average[d][g];
      plans.all.back().row.paper_final = kYueTable2Final[d][g];
    }
  }
  plans.samples = plans.all.size();
  for (const YueTable3Column& column : kYueTable3) {
    for (const double gamma : kYueGammas) {
      plans.all.push_back(link_plan(options, kSamplesDelta, gamma, column.samples));
    }
  }
  plans.clicks = plans.all.size();
  for (const char* ranker : kClickRankers) {
    for (const UserKind user : kUserKinds) {
      plans.all.push_back(click_plan(options, factory, ranker, user, bound, points));
    }
  }
  return plans;
}

Result<void> run_plans(std::vector<Plan>& plans, const std::vector<Fold>& folds,
                       const DuelingLetorOptions& options) {
  std::vector<std::optional<Error>> errors(plans.size() * folds.size());
  for (Plan& plan : plans) {
    plan.outcomes.resize(folds.size());
  }
  run_jobs(errors.size(), options.threads, [&](std::size_t job) {
    // The longest jobs come last in the list of plans: begin with them.
    const std::size_t at = plans.size() - 1 - job / folds.size();
    Plan& plan = plans[at];
    const std::size_t f = job % folds.size();
    Result<Outcome> outcome = plan.run(folds[f], at * folds.size() + f);
    if (outcome.ok()) {
      plan.outcomes[f] = *std::move(outcome);
    } else {
      errors[job] = outcome.error();
    }
  });
  for (const std::optional<Error>& error : errors) {
    if (error) {
      return *error;
    }
  }
  for (Plan& plan : plans) {
    summarise(plan);
  }
  return {};
}

void collect(const Plans& plans, DuelingLetorFindings& findings) {
  const Plan& svm = plans.all.front();
  findings.svm = svm.row;
  for (const Outcome& outcome : svm.outcomes) {
    findings.svm_c.push_back(outcome.c);
  }
  for (std::size_t i = plans.sweep; i < plans.samples; ++i) {
    findings.sweep.push_back(plans.all[i].row);
  }
  for (std::size_t i = plans.samples; i < plans.clicks; i += kYueGammas.size()) {
    const auto begin = plans.all.begin() + static_cast<std::ptrdiff_t>(i);
    const auto best = std::max_element(
        begin, begin + static_cast<std::ptrdiff_t>(kYueGammas.size()),
        [](const Plan& a, const Plan& b) { return a.row.ndcg10_vali < b.row.ndcg10_vali; });
    findings.samples.push_back(best->row);
    findings.samples.back().against_svm = compare(svm, *best);
  }
  for (std::size_t i = plans.clicks; i < plans.all.size(); ++i) {
    findings.clicks.push_back(plans.all[i].row);
  }
}

}  // namespace

Result<LetorParts> read_letor_parts(const std::filesystem::path& folder) {
  LetorParts data;
  data.name = folder.filename().string();
  for (std::size_t i = 0; i < kLetorFolds; ++i) {
    std::filesystem::path path = folder / fmt::format("S{}.txt", i + 1);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      path += ".zst";
    }
    HINDSIGHT_ASSIGN_OR_RETURN(data.parts[i], read_letor(path));
  }
  for (std::size_t i = 0; i < kLetorFolds; ++i) {
    if (data.parts[i].dim != data.parts[0].dim) {
      return Error{
          ErrorCode::kInvalidArgument,
          "the parts have different numbers of features: " + std::to_string(data.parts[0].dim) +
              " in S1, " + std::to_string(data.parts[i].dim) + " in S" + std::to_string(i + 1),
          folder.string()};
    }
    normalise_queries(data.parts[i]);
  }
  return data;
}

std::uint64_t total_rounds(const DuelingLetorOptions& options) {
  const std::uint64_t link_runs =
      kYueDeltas.size() * kYueGammas.size() + kYueTable3.size() * kYueGammas.size();
  const std::uint64_t click_runs = std::size(kClickRankers) * std::size(kUserKinds);
  return kLetorFolds * (link_runs * options.link_rounds + click_runs * options.click_rounds);
}

Result<DuelingLetorFindings> run_dueling_letor(const LetorParts& data,
                                               const DuelingLetorOptions& options,
                                               const RankerFactory& factory) {
  HINDSIGHT_RETURN_IF_ERROR(check_runs_and_threads(1, options.threads));
  if (options.link_rounds == 0 || options.click_rounds == 0) {
    return Error{ErrorCode::kInvalidArgument, "must be at least 1", "rounds"};
  }
  std::vector<Fold> folds;
  for (std::size_t f = 0; f < kLetorFolds; ++f) {
    HINDSIGHT_ASSIGN_OR_RETURN(Fold fold, make_fold(data, f));
    folds.push_back(std::move(fold));
  }
  DuelingLetorFindings findings;
  findings.data = data.name;
  findings.seed = options.seed;
  findings.link_rounds = options.link_rounds;
  findings.click_rounds = options.click_rounds;
  findings.points = curve_points(options.click_rounds);
  for (const Fold& fold : folds) {  // each part is the test set of one fold
    findings.queries += fold.test.queries();
    findings.judged_queries += fold.test.judged().size();
    findings.documents += fold.test.documents();
  }
  Plans plans = make_plans(options, factory, feature_bound(data), findings.points);
  HINDSIGHT_RETURN_IF_ERROR(run_plans(plans.all, folds, options));
  collect(plans, findings);
  return findings;
}

}  // namespace hindsight
