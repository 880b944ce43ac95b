#include "src/cli/findings_command.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <utility>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/option_values.h"

namespace hindsight::cli {
namespace {

/// Where the data set lies when nobody says where.
std::vector<std::filesystem::path> usual_places(const std::string& name) {
  return {std::filesystem::path("../shared/data") / name, std::filesystem::path("data") / name};
}

}  // namespace

void add_findings_options(CLI::App& command, FindingsOptions& options) {
  command.add_option("--json", options.json, "Write the figures to this file")->type_name("FILE");
  command.add_option("--html", options.html, "Write a report to this file")->type_name("FILE");
}

void add_run_options(CLI::App& command, std::uint32_t* runs, std::uint64_t& seed,
                     std::uint32_t* threads) {
  const auto small = decimal_integer(std::numeric_limits<std::uint32_t>::max());
  if (runs != nullptr) {
    command.add_option("--runs", *runs, "Runs per row, with seeds S, S+1, ...")
        ->check(small)
        ->capture_default_str();
  }
  command.add_option("--seed", seed, "Seed of the first run")
      ->check(decimal_integer(std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  if (threads != nullptr) {
    command.add_option("--threads", *threads, "Threads; results do not depend on it")
        ->check(small)
        ->capture_default_str();
  }
}

void add_data_option(CLI::App& command, std::string& folder, const std::string& name,
                     const std::string& contents) {
  command
      .add_option(
          "--data", folder,
          "Folder with " + contents + "; default: ../shared/data/" + name + " or ./data/" + name)
      ->type_name("DIR");
}

Result<std::filesystem::path> find_data_folder(
    const std::string& given, const std::string& name, const std::string& contents,
    const std::function<bool(const std::filesystem::path&)>& fits) {
  std::vector<std::filesystem::path> places = usual_places(name);
  if (!given.empty()) {
    places = {given, std::filesystem::path(given) / name};
  }
  for (const std::filesystem::path& place : places) {
    if (fits(place)) {
      return place;
    }
  }
  return Error{ErrorCode::kInvalidArgument,
               "there is no folder with " + contents + "; give one with --data",
               places.front().string()};
}

Result<void> write_findings(const FindingsOptions& options,
                            const std::function<Result<Findings>()>& find_out) {
  HINDSIGHT_ASSIGN_OR_RETURN(FindingsFiles files,
                             FindingsFiles::prepare(options.json, options.html));
  HINDSIGHT_ASSIGN_OR_RETURN(const Findings findings, find_out());
  return files.write(findings.json, findings.report, findings.text);
}

void set_work(CLI::App& command, int& exit_code, std::function<Result<void>()> run) {
  command.callback([run = std::move(run), &exit_code] {
    const Result<void> done = run();
    exit_code = done.ok() ? 0 : fail(done.error());
  });
}

}  // namespace hindsight::cli
