#include "src/cli/click_bandit_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/cli/findings_command.h"
#include "src/cli/option_values.h"
#include "src/core/check.h"
#include "src/sim/click_bandit_experiment.h"
#include "src/sim/click_bandit_output.h"
#include "src/sim/parallel.h"
#include "src/sim/progress.h"

namespace hindsight::cli {
namespace {

constexpr const char* kDataSet = "ml-latest-small";
constexpr const char* kContents = "ratings.csv (or ratings.csv.zst)";
constexpr std::uint32_t kQuickRuns = 2;

struct Options {
  std::string data;          // movielens only
  std::string environments;  // click-models only
  std::string rankers;
  std::uint32_t runs = 10;
  std::uint64_t seed = 1;
  std::uint32_t threads = machine_threads();
  bool quick = false;
  FindingsOptions findings;
};

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

Result<Findings> play(const std::string& experiment, std::vector<ClickEnvironment> environments,
                      const Options& options) {
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
  return Findings{.json = click_bandit_json(findings),
                  .report = click_bandit_report(findings),
                  .text = click_bandit_text(findings)};
}

Result<Findings> play_click_models(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(std::vector<ClickEnvironment> environments,
                             choose(click_model_environments(options.quick), options.environments));
  return play("click-models", std::move(environments), options);
}

Result<Findings> play_movielens(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(
      const std::filesystem::path folder,
      find_data_folder(options.data, kDataSet, kContents, [](const std::filesystem::path& place) {
        return find_ratings(place).has_value();
      }));
  HINDSIGHT_ASSIGN_OR_RETURN(const MovieRatings ratings, read_ratings(*find_ratings(folder)));
  return play("movielens", {movielens_environment(ratings, options.quick)}, options);
}

/// The options that both have.
void add_options(CLI::App& command, Options& options) {
  command
      .add_option("--rankers", options.rankers,
                  "Only these; default: recurrank, recurrank-printed, cascade-linucb, "
                  "cascade-linucb-proven, cascade-lints, toprank")
      ->check(check_names)
      ->type_name("NAME,...");
  add_run_options(command, &options.runs, options.seed, &options.threads);
  command.get_option("--threads")->description("Threads; regrets do not depend on it");
  command.add_flag("--quick", options.quick, "A hundredth of the rounds, and 2 runs");
  add_findings_options(command, options.findings);
}

void set_play(CLI::App& command, Result<Findings> (*find_out)(const Options&),
              std::shared_ptr<Options> options, int& exit_code) {
  set_work(command, exit_code, [find_out, options = std::move(options)] {
    return write_findings(options->findings, [&] { return find_out(*options); });
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
  set_play(*models, play_click_models, clicks, exit_code);

  auto movies = std::make_shared<Options>();
  CLI::App* movielens = experiment.add_subcommand(
      "movielens", "Click bandits on movies with features from ratings ([Li19] section 5)");
  add_data_option(*movielens, movies->data, kDataSet, kContents);
  add_options(*movielens, *movies);
  movielens->footer("Example:\n  hindsight experiment movielens --html report.html");
  set_play(*movielens, play_movielens, movies, exit_code);
}

}  // namespace hindsight::cli
