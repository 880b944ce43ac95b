#include "src/cli/dueling_letor_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "hindsight/registry.h"
#include "src/cli/command.h"
#include "src/cli/findings_files.h"
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
constexpr const char* kDefaultFolders[] = {"../shared/data/mq2008", "data/mq2008"};

struct Options {
  DuelingLetorOptions experiment{.threads = machine_threads()};
  std::string data;
  bool quick = false;
  std::string json;
  std::string html;
};

/// The folder itself, or that of the data set in it.
Result<std::filesystem::path> find_folder(const std::string& given) {
  std::vector<std::filesystem::path> places;
  if (given.empty()) {
    places.assign(std::begin(kDefaultFolders), std::end(kDefaultFolders));
  } else {
    places = {given, std::filesystem::path(given) / "mq2008"};
  }
  std::error_code ignored;
  for (const std::filesystem::path& place : places) {
    if (std::filesystem::exists(place / "S1.txt", ignored) ||
        std::filesystem::exists(place / "S1.txt.zst", ignored)) {
      return place;
    }
  }
  return Error{ErrorCode::kInvalidArgument,
               "there is no folder with S1.txt to S5.txt (or .txt.zst); give one with --data",
               given.empty() ? places.front().string() : given};
}

Result<void> run(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(FindingsFiles files,
                             FindingsFiles::prepare(options.json, options.html));
  DuelingLetorOptions experiment = options.experiment;
  if (options.quick) {
    experiment.link_rounds = kQuickLinkRounds;
    experiment.click_rounds = kQuickClickRounds;
  }
  const RankerFactory factory = [](const std::string& name, const ParamMap& params) {
    return make_ranker(name, params);
  };
  HINDSIGHT_ASSIGN_OR_RETURN(const std::filesystem::path folder, find_folder(options.data));
  HINDSIGHT_ASSIGN_OR_RETURN(const LetorParts data, read_letor_parts(folder));
  DuelingLetorFindings findings;
  {
    ProgressBar bar(stderr, data.name, total_rounds(experiment));
    experiment.progress = [&bar](std::uint64_t rounds) { bar.add(rounds); };
    HINDSIGHT_ASSIGN_OR_RETURN(findings, run_dueling_letor(data, experiment, factory));
  }
  return files.write(dueling_letor_json(findings), dueling_letor_report(findings),
                     dueling_letor_text(findings));
}

}  // namespace

void add_dueling_letor_command(CLI::App& experiment, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = experiment.add_subcommand(
      "dueling-letor", "Duels on judged documents ([Yue09] Tables 2 and 3), and from clicks");
  command
      ->add_option("--data", options->data,
                   "Folder with S1.txt to S5.txt (or .txt.zst) in LETOR's format; default: "
                   "../shared/data/mq2008 or ./data/mq2008")
      ->type_name("DIR");
  command
      ->add_option("--duels", options->experiment.link_rounds,
                   "Queries that each run through the link compares (the paper: 10,000,000)")
      ->check(decimal_integer(kMaxRounds))
      ->capture_default_str();
  command->add_option("--lists", options->experiment.click_rounds, "Lists that each ranker shows")
      ->check(decimal_integer(kMaxRounds))
      ->capture_default_str();
  command->add_option("--seed", options->experiment.seed, "Seed of all random numbers")
      ->check(decimal_integer(std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command
      ->add_option("--threads", options->experiment.threads, "Threads; results do not depend on it")
      ->check(decimal_integer(std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  command->add_flag("--quick", options->quick, "5,000 duels and 1,000 lists");
  command->add_option("--json", options->json, "Write the figures to this file")->type_name("FILE");
  command->add_option("--html", options->html, "Write a report to this file")->type_name("FILE");
  command->footer("Example:\n  hindsight experiment dueling-letor --html report.html");
  command->callback([options, &exit_code] {
    const Result<void> done = run(*options);
    exit_code = done.ok() ? 0 : fail(done.error());
  });
}

}  // namespace hindsight::cli
