#include "src/cli/dueling_synthetic_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "src/cli/findings_command.h"
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
  FindingsOptions findings;
};

Result<Findings> find_out(const Options& options) {
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
  return Findings{.json = dueling_synthetic_json(findings),
                  .report = dueling_synthetic_report(findings),
                  .text = dueling_synthetic_text(findings)};
}

}  // namespace

void add_dueling_synthetic_command(CLI::App& experiment, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = experiment.add_subcommand(
      "dueling-synthetic", "Duels over synthetic value functions ([Yue09] Table 1, Figure 2)");
  command->add_option("--rounds", options->experiment.rounds, "T: comparisons of each run")
      ->check(decimal_integer(kMaxRounds))
      ->capture_default_str();
  add_run_options(*command, &options->experiment.runs, options->experiment.seed,
                  &options->experiment.threads);
  command->add_flag("--quick", options->quick, "20,000 rounds in place of 1,000,000");
  add_findings_options(*command, options->findings);
  command->footer(
      "Example:\n  hindsight experiment dueling-synthetic --runs 10 --html report.html");
  set_work(*command, exit_code, [options] {
    return write_findings(options->findings, [&] { return find_out(*options); });
  });
}

}  // namespace hindsight::cli
