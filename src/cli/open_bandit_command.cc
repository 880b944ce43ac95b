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
constexpr const char* kDefaultFolders[] = {"../shared/data/open_bandit", "data/open_bandit"};

struct Options {
  std::string data;
  std::uint64_t seed = 1;
  bool quick = false;
  FindingsOptions findings;
};

/// The folder itself, or that of the data set in it.
Result<std::filesystem::path> find_folder(const std::string& given) {
  std::vector<std::filesystem::path> places;
  if (given.empty()) {
    places.assign(std::begin(kDefaultFolders), std::end(kDefaultFolders));
  } else {
    places = {given, std::filesystem::path(given) / "open_bandit"};
  }
  for (const std::filesystem::path& place : places) {
    if (!open_bandit_campaigns(place).empty()) {
      return place;
    }
  }
  return Error{ErrorCode::kInvalidArgument,
               "there is no folder with random_NAME.csv and bts_NAME.csv (or .csv.zst); give one "
               "with --data",
               given.empty() ? places.front().string() : given};
}

Result<Findings> find_out(const Options& options) {
  OpenBanditOptions experiment{.seed = options.seed};
  if (options.quick) {
    experiment.resamples = kQuickResamples;
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const std::filesystem::path folder, find_folder(options.data));
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
  command
      ->add_option("--data", options->data,
                   "Folder with random_NAME.csv and bts_NAME.csv (or .csv.zst); default: "
                   "../shared/data/open_bandit or ./data/open_bandit")
      ->type_name("DIR");
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
