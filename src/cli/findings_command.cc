#include "src/cli/findings_command.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <utility>

#include "src/cli/command.h"
#include "src/cli/option_values.h"

namespace hindsight::cli {

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
