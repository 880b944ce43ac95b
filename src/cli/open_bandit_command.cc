#include "src/cli/open_bandit_command.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/cli/findings_command.h"
#include "src/core/check.h"
#include "src/sim/open_bandit_experiment.h"
#include "src/sim/open_bandit_output.h"

namespace hindsight::cli {
namespace {

constexpr std::uint32_t kQuickResamples = 50;
constexpr const char* kDataSet = "open_bandit";
constexpr const char* kContents = "random_NAME.csv and bts_NAME.csv (or .csv.zst)";

struct Options {
  std::string data;
  std::uint64_t seed = 1;
  bool quick = false;
  FindingsOptions findings;
};

Result<Findings> find_out(const Options& options) {
  OpenBanditOptions experiment{.seed = options.seed};
  if (options.quick) {
    experiment.resamples = kQuickResamples;
  }
  HINDSIGHT_ASSIGN_OR_RETURN(
      const std::filesystem::path folder,
      find_data_folder(options.data, kDataSet, kContents, [](const std::filesystem::path& place) {
        return !open_bandit_campaigns(place).empty();
      }));
  OpenBanditFindings findings{.seed = options.seed, .resamples = experiment.resamples, .rows = {}};
  for (const std::string& campaign : open_bandit_campaigns(folder)) {
    HINDSIGHT_ASSIGN_OR_RETURN(const OpenBanditLog random,
                               read_open_bandit(folder, "random", campaign));
    HINDSIGHT_ASSIGN_OR_RETURN(const OpenBanditLog bts, read_open_bandit(folder, "bts", campaign));
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<OpenBanditFinding> rows,
                               run_open_bandit(random, bts, experiment));
    findings.rows.insert(findings.rows.end(), rows.begin(), rows.end());
  }
  return Findings{.json = open_bandit_json(findings),
                  .report = open_bandit_report(findings),
                  .text = open_bandit_text(findings)};
}

}  // namespace

void add_open_bandit_command(CLI::App& experiment, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = experiment.add_subcommand(
      "open-bandit",
      "Estimate each of two policies from the other's log of real users ([Saito20])");
  add_data_option(*command, options->data, kDataSet, kContents);
  add_run_options(*command, nullptr, options->seed, nullptr);
  command->get_option("--seed")->description("Seed of the bootstrap");
  command->add_flag("--quick", options->quick, "50 resamples in place of 1,000");
  add_findings_options(*command, options->findings);
  command->footer("Example:\n  hindsight experiment open-bandit --html report.html");
  set_work(*command, exit_code, [options] {
    return write_findings(options->findings, [&] { return find_out(*options); });
  });
}

}  // namespace hindsight::cli
