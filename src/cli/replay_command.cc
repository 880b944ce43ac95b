#include "src/cli/replay_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "hindsight/registry.h"
#include "src/cli/command.h"
#include "src/core/check.h"
#include "src/engine/recovery.h"
#include "src/store/sqlite_view.h"

namespace hindsight::cli {
namespace {

struct Options {
  std::string folder;
  std::string collection;
  std::string ranker;
  std::vector<std::string> params;  // name=value
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
  HINDSIGHT_ASSIGN_OR_RETURN(ParamMap params, check_params(*row, given));
  return RankerChoice{.ranker = options.ranker, .params = std::move(params)};
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

Result<void> replay(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::unique_ptr<LogView> view, open_sqlite_view(options.folder));
  HINDSIGHT_ASSIGN_OR_RETURN(const LogInfo log, choose_log(*view, options.collection));
  std::optional<RankerChoice> choice;
  if (!options.ranker.empty()) {
    HINDSIGHT_ASSIGN_OR_RETURN(choice, choose_ranker(options));
  }
  const auto start = std::chrono::steady_clock::now();
  HINDSIGHT_ASSIGN_OR_RETURN(
      const Folded folded,
      fold_log(*view, log.id, choice ? &*choice : nullptr, std::nullopt, FoldOptions{}));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  print(log, folded, taken.count());
  return {};
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "replay", "Fold the log of a data folder again, with the same or another ranker");
  command->add_option("log", options->folder, "Data folder of a server, which may be running")
      ->required()
      ->type_name("DIR");
  command->add_option("--collection", options->collection, "Which one, where there are several")
      ->type_name("NAME");
  command->add_option("--ranker", options->ranker, "In place of the rankers that the log names")
      ->type_name("NAME");
  command->add_option("--param", options->params, "A parameter of that ranker, NAME=VALUE")
      ->type_name("NAME=VALUE");
  command->footer(
      "Example:\n"
      "  hindsight replay hindsight-data --collection books --ranker noregret-klrank --param "
      "alpha=1");
  command->callback([options, &exit_code] {
    const Result<void> done = replay(*options);
    exit_code = done.ok() ? 0 : fail(done.error());
  });
}

}  // namespace hindsight::cli
