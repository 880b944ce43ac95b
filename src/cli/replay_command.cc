#include "src/cli/replay_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/registry.h"
#include "src/cli/command.h"
#include "src/core/check.h"
#include "src/engine/evaluate.h"
#include "src/engine/measure.h"
#include "src/engine/recovery.h"
#include "src/server/json_output.h"
#include "src/store/sqlite_view.h"

namespace hindsight::cli {
namespace {

struct Options {
  std::string folder;
  std::string collection;
  std::string ranker;
  std::vector<std::string> params;  // name=value
  bool json = false;
  bool regret = false;
};

Result<LogInfo> choose_log(const LogView& view, const std::string& name) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogInfo> logs, view.logs());
  std::string names;
  for (const LogInfo& log : logs) {
    if (log.name == name || (name.empty() && logs.size() == 1)) {
      return log;
    }
    names += (names.empty() ? "" : ", ") + log.name;
  }
  return Error{ErrorCode::kUnknownName,
               logs.empty() ? "there is no collection in this folder"
                            : "name one of the collections: " + names,
               "--collection"};
}

Result<ParamValue> parse_value(const ParamSpec& spec, const std::string& text) {
  if (std::holds_alternative<std::string>(spec.default_value)) {
    return ParamValue(text);
  }
  if (std::holds_alternative<bool>(spec.default_value)) {
    if (text == "true" || text == "false") {
      return ParamValue(text == "true");
    }
    return Error{ErrorCode::kInvalidArgument, "must be true or false", std::string(spec.name)};
  }
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) {
    return Error{ErrorCode::kInvalidArgument, "must be a number", std::string(spec.name)};
  }
  return ParamValue(number);
}

Result<RankerChoice> choose_ranker(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(const RankerInfo* row, find_ranker(options.ranker));
  ParamMap given;
  for (const std::string& word : options.params) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto spec = std::find_if(row->params.begin(), row->params.end(),
                                   [&](const ParamSpec& one) { return one.name == name; });
    if (equals == std::string::npos || spec == row->params.end()) {
      return Error{ErrorCode::kUnknownName,
                   "give NAME=VALUE with a parameter of " + options.ranker +
                       " (see `hindsight rankers " + options.ranker + "`)",
                   "--param"};
    }
    HINDSIGHT_ASSIGN_OR_RETURN(given[name], parse_value(*spec, word.substr(equals + 1)));
  }
  return complete_choice({.ranker = options.ranker, .params = std::move(given)});
}

void print(const LogInfo& log, const Folded& folded, double seconds) {
  CollectionStats stats;
  folded.fold->fill_stats(stats);
  const Model& model = *folded.model;
  fmt::print("collection     {}\n", log.name);
  fmt::print("ranker         {}\n", model.config().ranker);
  fmt::print("position       {}\n", stats.position);
  fmt::print("items          {}\n", model.ranker().items_live());
  fmt::print("decisions      {}\n", stats.decisions);
  const ClickCounts& clicks = stats.clicks;
  fmt::print(
      "clicks         {} received: {} pending, {} learned, {} duplicate, {} late, {} unjoined, {} "
      "quarantined\n",
      clicks.received, clicks.pending, clicks.learned, clicks.duplicate, clicks.late,
      clicks.unjoined, clicks.quarantined);
  if (const auto regret = model.ranker().regret_summary()) {
    fmt::print("K-L cost       {:.6g} as served, {:.6g} when learned\n", regret->served_cost,
               regret->learned_cost);
    fmt::print("regret bound   {:.6g} (theorem), {:.6g} (data)\n", regret->theorem_bound,
               regret->data_bound);
  }
  fmt::print("model hash     {}\n", model_hash(model.ranker()));
  fmt::print("time           {:.2f} s, {:.0f} events/s\n", seconds,
             seconds > 0 ? static_cast<double>(stats.position) / seconds : 0.0);
}

/// What the best fixed policy would have paid for the clicks that were learned.
Result<void> print_hindsight(const LogView& view, const LogInfo& log, const Folded& folded) {
  const Model& model = *folded.model;
  const ClickSample& sample = folded.fold->sample();
  if (!model.ranker().books_kl_cost()) {
    return Error{ErrorCode::kUnsupported,
                 "the ranker " + model.config().ranker +
                     " books no K-L cost, so that there is no regret to tell",
                 "--regret"};
  }
  const RegretAccount& account = *model.ranker().regret();
  if (account.clicks() == 0) {
    fmt::print("regret         none: no click was learned\n");
    return {};
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const std::optional<Hindsight> hindsight,
                             measure_hindsight(view, log.id,
                                               {.ranker = model.config().ranker,
                                                .params = model.config().params,
                                                .account = account,
                                                .clicks = sample.clicks()},
                                               {}, [] { return true; }));
  HINDSIGHT_CHECK(hindsight.has_value());
  fmt::print("hindsight      {:.6g}, may be off by {:.2g}; from {} of {} clicks\n", hindsight->cost,
             hindsight->error, hindsight->sample, account.clicks());
  fmt::print("regret         {:.6g} to {:.6g}\n", account.learned_cost() - hindsight->cost,
             hindsight->regret_upper);
  return {};
}

std::string with_interval(const Estimate& estimate) {
  return estimate.standard_error
             ? fmt::format("{:.4g} ({:.4g} to {:.4g})", estimate.value, estimate.low, estimate.high)
             : fmt::format("{:.4g}", estimate.value);
}

void print(const char* name, const PolicyEstimate& estimate) {
  if (estimate.support == Support::kNone) {
    fmt::print("{:<14} no support: {}\n", name, estimate.reason);
  } else {
    fmt::print("{:<14} {} self-normalised, {} inverse propensity; {} as logged\n", name,
               with_interval(*estimate.self_normalised),
               with_interval(*estimate.inverse_propensity), with_interval(*estimate.logged));
    fmt::print(
        "{:<14} {} decisions, worth {:.1f}, {} rewarded; mean weight {:.4g}, largest {:.4g}\n", "",
        estimate.decisions, estimate.effective_sample_size, estimate.rewarded, estimate.mean_weight,
        estimate.max_weight);
    if (estimate.support == Support::kWeak) {
      fmt::print("{:<14} weak support: {}\n", "", estimate.reason);
    }
  }
  for (const auto& [reason, count] : estimate.left_out) {
    fmt::print("{:<14} left out: {} ({})\n", "", count, reason);
  }
}

void print(const Evaluation& evaluation) {
  const ReplayCost& cost = evaluation.replay_cost;
  if (cost.mean) {
    fmt::print("replay cost    {:.6g} per click over {} clicks\n", *cost.mean, cost.clicks);
  } else if (cost.impossible > 0) {
    fmt::print("replay cost    infinite: {} of {} clicks on items that it would never put first\n",
               cost.impossible, cost.clicks);
  }
  if (evaluation.open_decisions > 0) {
    fmt::print("open           {} of {} decisions, whose clicks may still come\n",
               evaluation.open_decisions, evaluation.decisions);
  }
  print("first click", evaluation.first_click);
  print("NDCG", evaluation.ndcg);
}

/// How another ranker would have done.
Result<void> judge(const LogView& view, const LogInfo& log, const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(const RankerChoice choice, choose_ranker(options));
  HINDSIGHT_ASSIGN_OR_RETURN(const Position head, view.head(log.id));
  const auto start = std::chrono::steady_clock::now();
  HINDSIGHT_ASSIGN_OR_RETURN(const Evaluated evaluated,
                             evaluate(view, log.id, choice, {.through = head}));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (options.json) {
    EvaluationJob job{.choice = choice,
                      .state = EvaluationJob::State::kDone,
                      .position = evaluated.evaluation.through,
                      .head = head,
                      .result = evaluated.evaluation,
                      .error = {}};
    fmt::print("{}\n", evaluation_json(job));
    return {};
  }
  print(log, evaluated.folded, taken.count());
  print(evaluated.evaluation);
  return options.regret ? print_hindsight(view, log, evaluated.folded) : Result<void>();
}

Result<void> replay(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::unique_ptr<LogView> view, open_sqlite_view(options.folder));
  HINDSIGHT_ASSIGN_OR_RETURN(const LogInfo log, choose_log(*view, options.collection));
  if (options.regret && options.json) {
    return Error{ErrorCode::kInvalidArgument, "does not go with --json", "--regret"};
  }
  if (!options.ranker.empty()) {
    return judge(*view, log, options);
  }
  if (options.json) {
    return Error{ErrorCode::kInvalidArgument, "goes with --ranker", "--json"};
  }
  const auto start = std::chrono::steady_clock::now();
  HINDSIGHT_ASSIGN_OR_RETURN(const Folded folded,
                             fold_log(*view, log.id, nullptr, std::nullopt, FoldOptions{}));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  print(log, folded, taken.count());
  return options.regret ? print_hindsight(*view, log, folded) : Result<void>();
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "replay",
      "Fold the log of a data folder again; with another ranker, say how it would have done");
  command->add_option("log", options->folder, "Data folder of a server, which may be running")
      ->required()
      ->type_name("DIR");
  command->add_option("--collection", options->collection, "Which one, where there are several")
      ->type_name("NAME");
  command->add_option("--ranker", options->ranker, "In place of the rankers that the log names")
      ->type_name("NAME");
  command->add_option("--param", options->params, "A parameter of that ranker, NAME=VALUE")
      ->type_name("NAME=VALUE");
  command->add_flag("--json", options->json, "With --ranker: print what came out as JSON");
  command->add_flag("--regret", options->regret,
                    "Look for the best fixed policy in hindsight, which takes a while");
  command->footer(
      "Examples:\n"
      "  hindsight replay hindsight-data --collection books --regret\n"
      "  hindsight replay hindsight-data --collection books --ranker noregret-klrank --param "
      "alpha=1");
  command->callback([options, &exit_code] {
    const Result<void> done = replay(*options);
    exit_code = done.ok() ? 0 : fail(done.error());
  });
}

}  // namespace hindsight::cli
