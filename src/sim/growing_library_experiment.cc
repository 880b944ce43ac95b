#include "src/sim/growing_library_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/core/check.h"
#include "src/sim/parallel.h"
#include "src/sim/regret_curve.h"
#include "src/sim/replay.h"

namespace hindsight {
namespace {

constexpr double kSmallestAlpha = 1e-6;  // far below, steps and balls vanish in rounding

constexpr const char* kEverything = "picks, session, groups, links";

std::vector<RankerPlan> make_plan() {
  std::vector<RankerPlan> plan = {
      {"noregret-klrank", 3.0, true},     {"klrank", 3.0, true},
      {"greedy-klrank", 3.0, true},       {"online-ranknet", 1.0, false},
      {"category-ranking", std::nullopt}, {"hits", std::nullopt},
      {"pagerank", std::nullopt},         {"mcrank", std::nullopt},
      {"random", std::nullopt},
  };
  for (RankerPlan& row : plan) {
    row.information = row.name == "random"                           ? "nothing"
                      : row.name == "hits" || row.name == "pagerank" ? "links"
                                                                     : "picks";
  }
  const auto add = [&plan](const char* name, const char* ranker, ParamMap params,
                           const char* information) {
    plan.push_back({name, std::nullopt, false, ranker, std::move(params), information});
  };
  add("feature-klrank", "feature-klrank", {}, kEverything);
  add("auto", "auto", {}, kEverything);
  add("auto-sorted", "auto", {{"first", std::string("sorted")}}, kEverything);
  add("auto-share", "auto", {{"share", 0.001}}, kEverything);
  // What each kind of information brings.
  add("auto-no-session", "auto", {{"session", false}}, "picks, groups");
  add("auto-no-links", "auto", {{"links", false}}, "picks, session, groups");
  add("auto-no-groups", "auto", {{"groups", false}}, "picks, session, links");
  const ParamMap picks_only = {{"session", false}, {"groups", false}, {"links", false}};
  add("auto-picks", "auto", picks_only, "picks");
  ParamMap picks_sorted = picks_only;
  picks_sorted["first"] = std::string("sorted");
  add("auto-picks-sorted", "auto", std::move(picks_sorted), "picks");
  return plan;
}

RankerPlan plan_of(const std::string& name) {
  for (const RankerPlan& plan : growing_library_plan()) {
    if (plan.name == name) {
      return plan;
    }
  }
  return {.name = name, .headline_alpha = std::nullopt, .learns_kl_cost = false};
}

Result<void> check_options(const GrowingLibraryOptions& options) {
  HINDSIGHT_RETURN_IF_ERROR(check_runs_and_threads(options.runs, options.threads));
  if (options.alphas_given && options.alphas.empty()) {
    return Error{ErrorCode::kInvalidArgument, "at least one value is needed", "alpha"};
  }
  for (const double alpha : options.alphas) {
    if (!(alpha > 0.0) || !std::isfinite(alpha)) {
      return Error{ErrorCode::kInvalidArgument, fmt::format("{} is not a positive number", alpha),
                   "alpha"};
    }
    if (alpha < kSmallestAlpha) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{} is too small; the least is {}", alpha, kSmallestAlpha), "alpha"};
    }
    if (std::count(options.alphas.begin(), options.alphas.end(), alpha) > 1) {
      return Error{ErrorCode::kInvalidArgument, fmt::format("{} is given twice", alpha), "alpha"};
    }
  }
  for (const std::string& ranker : options.rankers) {
    if (std::count(options.rankers.begin(), options.rankers.end(), ranker) > 1) {
      return Error{ErrorCode::kInvalidArgument, fmt::format("{} is given twice", ranker),
                   "rankers"};
    }
  }
  return {};
}

/// A row to be filled: which ranker, with which alpha.
struct RowPlan {
  RankerPlan plan;
  std::optional<double> alpha;
  bool headline = false;
};

std::vector<RowPlan> plan_rows(const GrowingLibraryOptions& options) {
  std::vector<std::string> names = options.rankers;
  if (names.empty()) {
    for (const RankerPlan& plan : growing_library_plan()) {
      names.emplace_back(plan.name);
    }
  }
  std::vector<RowPlan> headline;
  std::vector<RowPlan> sweep;
  for (const std::string& name : names) {
    const RankerPlan plan = plan_of(name);
    std::optional<double> chosen = plan.headline_alpha;
    if (chosen) {
      const auto& alphas = options.alphas;
      const bool listed = std::find(alphas.begin(), alphas.end(), *chosen) != alphas.end();
      if (options.alphas_given && !listed) {
        chosen = alphas.front();
      }
      for (const double alpha : alphas) {
        if (alpha != *chosen) {
          sweep.push_back({plan, alpha, false});
        }
      }
    }
    headline.push_back({plan, chosen, true});
  }
  headline.insert(headline.end(), sweep.begin(), sweep.end());
  return headline;
}

ParamMap params_of(const RowPlan& row) {
  // A replay shows everything: the pick is a choice among all candidates.
  ParamMap params = row.plan.params;
  params["choice_set"] = std::string("candidates");
  if (row.alpha) {
    params["alpha"] = *row.alpha;
  }
  return params;
}

const std::string& registry_name(const RowPlan& row) {
  return row.plan.ranker.empty() ? row.plan.name : row.plan.ranker;
}

/// RETURNS: the runs of every row, in order. FAILS: with the first error in the order of the rows
template <class Job>
Result<std::vector<std::vector<ReplayResult>>> run_rows(const std::vector<RowPlan>& rows,
                                                        const GrowingLibraryOptions& options,
                                                        const RankerFactory& factory,
                                                        const Job& job) {
  for (const RowPlan& row : rows) {  // a wrong name shows at once, not after minutes
    HINDSIGHT_RETURN_IF_ERROR(factory(registry_name(row), params_of(row)));
  }
  const std::size_t runs = options.runs;
  std::vector<std::optional<Result<ReplayResult>>> done(rows.size() * runs);
  run_jobs(done.size(), options.threads, [&](std::size_t i) {
    const RowPlan& row = rows[i / runs];
    Result<std::unique_ptr<Ranker>> ranker = factory(registry_name(row), params_of(row));
    done[i] =
        ranker.ok() ? job(**ranker, options.seed + i % runs) : Result<ReplayResult>(ranker.error());
  });
  std::vector<std::vector<ReplayResult>> results(rows.size());
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (!done[i]->ok()) {
      Error error = done[i]->error();
      error.field = error.field.empty()
                        ? rows[i / runs].plan.name
                        : fmt::format("{}: {}", rows[i / runs].plan.name, error.field);
      return error;
    }
    results[i / runs].push_back(**std::move(done[i]));
  }
  return results;
}

Measure measure(std::span<const ReplayResult> runs, Mean ClickMetrics::*column) {
  Mean over_runs;
  for (const ReplayResult& run : runs) {
    over_runs.add((run.metrics.*column).value());
  }
  return {over_runs.value(), over_runs.standard_error(),
          (runs.front().metrics.*column).standard_error()};
}

std::vector<JudgedPoint> mean_curve(std::span<const ReplayResult> runs) {
  std::vector<JudgedPoint> curve = runs.front().curve;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    Mean kl_cost;
    Mean rel_distance;
    Mean ndcg;
    for (const ReplayResult& run : runs) {
      kl_cost.add(run.curve[i].kl_cost);
      rel_distance.add(run.curve[i].rel_distance);
      ndcg.add(run.curve[i].ndcg);
    }
    curve[i] = {curve[i].t, kl_cost.value(), rel_distance.value(), ndcg.value()};
  }
  return curve;
}

GrowingLibraryRow summarize(const RowPlan& plan, std::span<const ReplayResult> runs) {
  GrowingLibraryRow row;
  row.ranker = plan.plan.name;
  row.information = plan.plan.information;
  row.alpha = plan.alpha;
  row.headline = plan.headline;
  row.kl_cost = measure(runs, &ClickMetrics::kl_cost);
  row.rel_distance = measure(runs, &ClickMetrics::rel_distance);
  row.first_rate = measure(runs, &ClickMetrics::first_rate);
  row.ndcg = measure(runs, &ClickMetrics::ndcg);
  row.curve = mean_curve(runs);
  return row;
}

/// Weights beyond this ball would leave the range that regret_curve can sum.
constexpr double kLargestRadius = 300.0;

double last_radius(const RegretAccount& account) { return account.cycles().back().radius; }

/// What is known without a search for the best policy.
RegretBracket without_search(const RegretAccount& account) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  return {.clicks = account.clicks(),
          .cost = account.learned_cost(),
          .served_cost = account.served_cost(),
          .hindsight_cost = kUnknown,
          .lower = kUnknown,
          .upper = kUnknown,
          .theorem_bound = account.theorem_bound(),
          .data_bound = account.data_bound(),
          .certificate = kUnknown};
}

std::vector<RegretBracket> measure_regret(
    const PrefixStream& stream, std::span<const RegretAccount> accounts,
    const std::function<void(const NewtonStatus&)>& progress) {
  const auto too_large = std::find_if(accounts.begin(), accounts.end(), [](const auto& account) {
    return last_radius(account) > kLargestRadius;
  });
  const auto within = static_cast<std::size_t>(too_large - accounts.begin());
  std::vector<RegretBracket> brackets = regret_curve(stream, accounts.first(within), progress);
  for (const RegretAccount& account : accounts.subspan(within)) {
    brackets.push_back(without_search(account));
  }
  return brackets;
}

/// Fills the regret of every row that learns the K-L cost: one measurement per alpha.
void fill_regret(const PrefixStream& stream, const std::vector<RowPlan>& plans,
                 const std::vector<std::vector<ReplayResult>>& runs,
                 const GrowingLibraryOptions& options, GrowingLibraryResult& result) {
  std::vector<std::size_t> chosen;  // the first row of each alpha; the headline's come first
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const bool known = std::any_of(chosen.begin(), chosen.end(), [&](std::size_t other) {
      return plans[other].alpha == plans[i].alpha;
    });
    if (plans[i].plan.learns_kl_cost && !known) {
      chosen.push_back(i);
    }
  }
  std::vector<std::vector<RegretBracket>> measured(chosen.size());
  run_jobs(chosen.size(), options.threads, [&](std::size_t j) {
    const std::span<const RegretAccount> accounts = runs[chosen[j]].front().regret;
    const bool whole_curve = plans[chosen[j]].headline || accounts.empty();
    std::function<void(const NewtonStatus&)> progress;
    if (options.solver_progress) {
      progress = [&, alpha = plans[chosen[j]].alpha.value_or(0.0)](const NewtonStatus& status) {
        options.solver_progress(alpha, status);
      };
    }
    measured[j] = measure_regret(stream, whole_curve ? accounts : accounts.last(1), progress);
  });
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    if (!measured[j].empty() && std::isnan(measured[j].back().upper)) {
      result.notes.push_back(fmt::format(
          "{}: regret is left out for alpha = {}: the weights' ball has radius {:.0f} at the end, "
          "and the search for the best fixed policy goes up to {:.0f}; the bounds are given",
          result.dataset, plans[chosen[j]].alpha.value_or(0.0),
          last_radius(runs[chosen[j]].front().regret.back()), kLargestRadius));
    }
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (std::size_t j = 0; plans[i].plan.learns_kl_cost && j < chosen.size(); ++j) {
      if (plans[chosen[j]].alpha == plans[i].alpha) {
        result.rows[i].regret = measured[j];
      }
    }
  }
}

}  // namespace

std::span<const RankerPlan> growing_library_plan() {
  static const std::vector<RankerPlan> plan = make_plan();
  return plan;
}

std::uint64_t total_queries(const GrowingLibrary& library, const GrowingLibraryOptions& options) {
  std::uint64_t queries = 0;
  for (std::size_t paper = 0; paper < library.size(); ++paper) {
    const auto cited = library.citations[paper];
    queries += static_cast<std::uint64_t>(
        std::count_if(cited.begin(), cited.end(), [&](ItemIndex other) { return other < paper; }));
  }
  return std::min<std::uint64_t>(queries, options.max_queries) * options.runs *
         plan_rows(options).size();
}

Result<GrowingLibraryResult> run_growing_library(const GrowingLibrary& library,
                                                 const GrowingLibraryOptions& options,
                                                 const RankerFactory& factory) {
  HINDSIGHT_RETURN_IF_ERROR(check_options(options));
  const LibraryStream stream = make_stream(library);
  GrowingLibraryResult result;
  result.dataset = library.name;
  result.papers = library.size();
  result.topics = library.topics.size();
  result.queries = std::min(options.max_queries, stream.prefix.queries.size());
  result.not_yet_there = stream.not_yet_there;
  result.counts = library.counts;
  if (result.queries == 0) {
    return Error{ErrorCode::kInvalidArgument, "no paper cites an earlier one: nothing to replay",
                 library.name};
  }
  Mean candidates;
  Mean inverse_candidates;
  for (std::size_t i = 0; i < result.queries; ++i) {
    candidates.add(stream.prefix.queries[i].length);
    inverse_candidates.add(1.0 / stream.prefix.queries[i].length);
  }
  result.mean_candidates = candidates.value();
  result.mean_inverse_candidates = inverse_candidates.value();

  const std::vector<RowPlan> plans = plan_rows(options);
  ReplayOptions replay_options;
  replay_options.max_queries = options.max_queries;
  replay_options.progress = options.progress;
  const auto job = [&](Ranker& ranker, std::uint64_t seed) {
    ReplayOptions seeded = replay_options;
    seeded.seed = seed;
    return replay(stream, ranker, seeded);
  };
  HINDSIGHT_ASSIGN_OR_RETURN(const auto runs, run_rows(plans, options, factory, job));
  for (std::size_t i = 0; i < plans.size(); ++i) {
    result.rows.push_back(summarize(plans[i], runs[i]));
  }
  fill_regret(stream.prefix, plans, runs, options, result);
  return result;
}

Result<std::vector<GrowingLibraryRow>> run_adversary(const GrowingLibraryOptions& options,
                                                     const RankerFactory& factory) {
  HINDSIGHT_RETURN_IF_ERROR(check_options(options));
  std::vector<RowPlan> plans = plan_rows(options);
  std::erase_if(plans, [](const RowPlan& plan) { return !plan.headline; });
  const auto job = [&](Ranker& ranker, std::uint64_t seed) {
    return play_adversary(ranker, options.adversary, seed);
  };
  HINDSIGHT_ASSIGN_OR_RETURN(const auto runs, run_rows(plans, options, factory, job));
  std::vector<GrowingLibraryRow> rows;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    rows.push_back(summarize(plans[i], runs[i]));
  }
  return rows;
}

}  // namespace hindsight
