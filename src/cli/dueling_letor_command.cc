#include "src/cli/dueling_letor_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "hindsight/registry.h"
#include "src/cli/findings_command.h"
#include "src/cli/option_values.h"
#include "src/core/check.h"
#include "src/sim/dueling_letor_experiment.h"
#include "src/sim/dueling_letor_output.h"
#include "src/sim/parallel.h"
#include "src/sim/progress.h"

namespace hindsight::cli {
namespace {

constexpr std::uint64_t kQuickLinkRounds = 5'000;
constexpr std::uint64_t kQuickClickRounds = 1'000;
constexpr std::uint64_t kMaxRounds = 1'000'000'000;
constexpr const char* kDataSet = "mq2008";
constexpr const char* kContents = "S1.txt to S5.txt (or .txt.zst) in LETOR's format";

struct Options {
  DuelingLetorOptions experiment{.threads = machine_threads()};
  std::string data;
  bool quick = false;
  FindingsOptions findings;
};

bool has_parts(const std::filesystem::path& place) {
  std::error_code ignored;
  return std::filesystem::exists(place / "S1.txt", ignored) ||
         std::filesystem::exists(place / "S1.txt.zst", ignored);
}

Result<Findings> find_out(const Options& options) {
  DuelingLetorOptions experiment = options.experiment;
  if (options.quick) {
    experiment.link_rounds = kQuickLinkRounds;
    experiment.click_rounds = kQuickClickRounds;
  }
  const RankerFactory factory = [](const std::string& name, const ParamMap& params) {
    return make_ranker(name, params);
  };
  HINDSIGHT_ASSIGN_OR_RETURN(const std::filesystem::path folder,
                             find_data_folder(options.data, kDataSet, kContents, has_parts));
  HINDSIGHT_ASSIGN_OR_RETURN(const LetorParts data, read_letor_parts(folder));
  DuelingLetorFindings findings;
  {
    ProgressBar bar(stderr, data.name, total_rounds(experiment));
    experiment.progress = [&bar](std::uint64_t rounds) { bar.add(rounds); };
    HINDSIGHT_ASSIGN_OR_RETURN(findings, run_dueling_letor(data, experiment, factory));
  }
  return Findings{.json = dueling_letor_json(findings),
                  .report = dueling_letor_report(findings),
                  .text = dueling_letor_text(findings)};
}

}  // namespace

void add_dueling_letor_command(CLI::App& experiment, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = experiment.add_subcommand(
      "dueling-letor", "Duels on judged documents ([Yue09] Tables 2 and 3), and from clicks");
  add_data_option(*command, options->data, kDataSet, kContents);
  command
      ->add_option("--duels", options->experiment.link_rounds,
                   "Queries that each run through the link compares (the paper: 10,000,000)")
      ->check(decimal_integer(kMaxRounds))
      ->capture_default_str();
  command->add_option("--lists", options->experiment.click_rounds, "Lists that each ranker shows")
      ->check(decimal_integer(kMaxRounds))
      ->capture_default_str();
  add_run_options(*command, nullptr, options->experiment.seed, &options->experiment.threads);
  command->get_option("--seed")->description("Seed of all random numbers");
  command->add_flag("--quick", options->quick, "5,000 duels and 1,000 lists");
  add_findings_options(*command, options->findings);
  command->footer("Example:\n  hindsight experiment dueling-letor --html report.html");
  set_work(*command, exit_code, [options] {
    return write_findings(options->findings, [&] { return find_out(*options); });
  });
}

}  // namespace hindsight::cli
