#include "src/cli/click_bandit_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/findings_files.h"
#include "src/cli/option_values.h"
#include "src/core/check.h"
#include "src/sim/click_bandit_experiment.h"
#include "src/sim/click_bandit_output.h"
#include "src/sim/parallel.h"
#include "src/sim/progress.h"

namespace hindsight::cli {
namespace {

constexpr const char* kDefaultFolders[] = {"../shared/data/ml-latest-small",
                                           "data/ml-latest-small"};
constexpr std::uint32_t kQuickRuns = 2;

struct Options {
  std::string data;          // movielens only
  std::string environments;  // click-models only
  std::string rankers;
  std::uint32_t runs = 10;
  std::uint64_t seed = 1;
  std::uint32_t threads = machine_threads();
  bool quick = false;
  std::string json;
  std::string html;
};

/// The folder itself, or that of the data set in it.
Result<std::filesystem::path> find_file(const std::string& given) {
  std::vector<std::filesystem::path> places;
  if (given.empty()) {
    places.assign(std::begin(kDefaultFolders), std::end(kDefaultFolders));
  } else {
    places = {given, std::filesystem::path(given) / "ml-latest-small"};
  }
  for (const std::filesystem::path& place : places) {
    if (auto file = find_ratings(place)) {
      return *file;
    }
  }
  return Error{ErrorCode::kInvalidArgument,
               "there is no folder with ratings.csv (or ratings.csv.zst); give one with --data",
               given.empty() ? places.front().string() : given};
}

Error unknown_environment(const std::string& name, const std::vector<ClickEnvironment>& all) {
  std::string known;
  for (const ClickEnvironment& one : all) {
    known += (known.empty() ? "" : ", ") + one.name;
  }
  return {ErrorCode::kUnknownName, "there is no environment '" + name + "'; there are: " + known,
          "environments"};
}

/// Those that are wanted. FAILS: kUnknownName
Result<std::vector<ClickEnvironment>> choose(std::vector<ClickEnvironment> all,
                                             const std::string& names) {
  if (names.empty()) {
    return all;
  }
  std::vector<ClickEnvironment> chosen;
  for (const std::string& name : split_names(names)) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const ClickEnvironment& one) { return one.name == name; });
    if (found == all.end()) {
      return unknown_environment(name, all);
    }
    chosen.push_back(*found);
  }
  return chosen;
}

Result<void> run(const std::string& experiment, std::vector<ClickEnvironment> environments,
                 const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(FindingsFiles files,
                             FindingsFiles::prepare(options.json, options.html));
  ClickBanditOptions played;
  if (!options.rankers.empty()) {
    played.rankers = split_names(options.rankers);
  }
  played.runs = options.quick ? std::min(options.runs, kQuickRuns) : options.runs;
  played.seed = options.seed;
  played.threads = options.threads;
  ClickBanditFindings findings{.experiment = experiment,
                               .seed = options.seed,
                               .runs = played.runs,
                               .quick = options.quick,
                               .environments = std::move(environments),
                               .rows = {}};
  {
    ProgressBar bar(stderr, experiment, total_rounds(findings.environments, played));
    played.progress = [&bar](std::uint64_t rounds) { bar.add(rounds); };
    HINDSIGHT_ASSIGN_OR_RETURN(findings.rows, run_click_bandits(findings.environments, played));
  }
  return files.write(click_bandit_json(findings), click_bandit_report(findings),
                     click_bandit_text(findings));
}

Result<void> run_click_models(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(std::vector<ClickEnvironment> environments,
                             choose(click_model_environments(options.quick), options.environments));
  return run("click-models", std::move(environments), options);
}

Result<void> run_movielens(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::filesystem::path file, find_file(options.data));
  HINDSIGHT_ASSIGN_OR_RETURN(const MovieRatings ratings, read_ratings(file));
  return run("movielens", {movielens_environment(ratings, options.quick)}, options);
}

/// The options that both have.
void add_options(CLI::App& command, Options& options) {
  command
      .add_option("--rankers", options.rankers,
                  "Only these; default: recurrank, recurrank-printed, cascade-linucb, "
                  "cascade-linucb-proven, cascade-lints, toprank")
      ->check(check_names)
      ->type_name("NAME,...");
  command.add_option("--runs", options.runs, "Runs per row, with seeds S, S+1, ...")
      ->check(decimal_integer(std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the first run")
      ->check(decimal_integer(std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Threads; regrets do not depend on it")
      ->check(decimal_integer(std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  command.add_flag("--quick", options.quick, "A hundredth of the rounds, and 2 runs");
  command.add_option("--json", options.json, "Write the figures to this file")->type_name("FILE");
  command.add_option("--html", options.html, "Write a report to this file")->type_name("FILE");
}

void set_callback(CLI::App& command, Result<void> (*work)(const Options&),
                  std::shared_ptr<Options> options, int& exit_code) {
  command.callback([work, options = std::move(options), &exit_code] {
    const Result<void> done = work(*options);
    exit_code = done.ok() ? 0 : fail(done.error());
  });
}

}  // namespace

void add_click_bandit_commands(CLI::App& experiment, int& exit_code) {
  auto clicks = std::make_shared<Options>();
  CLI::App* models = experiment.add_subcommand(
      "click-models", "Click bandits against users of known behaviour ([Li19] section 5)");
  models
      ->add_option("--environments", clicks->environments,
                   "Only these; default: cascade, position, dependent, impatient, rising")
      ->check(check_names)
      ->type_name("NAME,...");
  add_options(*models, *clicks);
  models->footer("Example:\n  hindsight experiment click-models --quick --html report.html");
  set_callback(*models, run_click_models, clicks, exit_code);

  auto movies = std::make_shared<Options>();
  CLI::App* movielens = experiment.add_subcommand(
      "movielens", "Click bandits on movies with features from ratings ([Li19] section 5)");
  movielens
      ->add_option("--data", movies->data,
                   "Folder with ratings.csv (or ratings.csv.zst); default: "
                   "../shared/data/ml-latest-small or ./data/ml-latest-small")
      ->type_name("DIR");
  add_options(*movielens, *movies);
  movielens->footer("Example:\n  hindsight experiment movielens --html report.html");
  set_callback(*movielens, run_movielens, movies, exit_code);
}

}  // namespace hindsight::cli
