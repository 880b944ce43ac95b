#include "src/cli/dueling_synthetic_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "src/cli/command.h"
#include "src/cli/findings_files.h"
#include "src/cli/option_values.h"
#include "src/core/check.h"
#include "src/sim/dueling_synthetic_experiment.h"
#include "src/sim/dueling_synthetic_output.h"
#include "src/sim/parallel.h"
#include "src/sim/progress.h"

namespace hindsight::cli {
namespace {

constexpr std::uint64_t kQuickRounds = 20'000;
constexpr std::uint64_t kMaxRounds = 1'000'000'000;

struct Options {
  DuelingSyntheticOptions experiment{.threads = machine_threads()};
  bool quick = false;
  std::string json;
  std::string html;
};

Result<void> run(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(FindingsFiles files,
                             FindingsFiles::prepare(options.json, options.html));
  DuelingSyntheticOptions experiment = options.experiment;
  if (options.quick) {
    experiment.rounds = kQuickRounds;
  }
  DuelingSyntheticFindings findings;
  {
    ProgressBar bar(stderr, "duels", total_rounds(experiment));
    experiment.progress = [&bar](std::uint64_t rounds) { bar.add(rounds); };
    HINDSIGHT_ASSIGN_OR_RETURN(findings, run_dueling_synthetic(experiment));
  }
  return files.write(dueling_synthetic_json(findings), dueling_synthetic_report(findings),
                     dueling_synthetic_text(findings));
}

}  // namespace

void add_dueling_synthetic_command(CLI::App& experiment, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = experiment.add_subcommand(
      "dueling-synthetic", "Duels over synthetic value functions ([Yue09] Table 1, Figure 2)");
  command->add_option("--rounds", options->experiment.rounds, "T: comparisons of each run")
      ->check(decimal_integer(kMaxRounds))
      ->capture_default_str();
  command->add_option("--runs", options->experiment.runs, "Runs per cell, with seeds S, S+1, ...")
      ->check(decimal_integer(std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  command->add_option("--seed", options->experiment.seed, "Seed of the first run")
      ->check(decimal_integer(std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command
      ->add_option("--threads", options->experiment.threads, "Threads; results do not depend on it")
      ->check(decimal_integer(std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  command->add_flag("--quick", options->quick, "20,000 rounds in place of 1,000,000");
  command->add_option("--json", options->json, "Write the figures to this file")->type_name("FILE");
  command->add_option("--html", options->html, "Write a report to this file")->type_name("FILE");
  command->footer(
      "Example:\n  hindsight experiment dueling-synthetic --runs 10 --html report.html");
  command->callback([options, &exit_code] {
    const Result<void> done = run(*options);
    exit_code = done.ok() ? 0 : fail(done.error());
  });
}

}  // namespace hindsight::cli
