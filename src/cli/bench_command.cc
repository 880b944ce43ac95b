#include "src/cli/bench_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/format.h"
#include "bench/runner.h"
#include "src/cli/command.h"
#include "src/cli/option_values.h"
#include "src/cli/output_file.h"
#include "src/core/check.h"
#include "src/sim/progress.h"

namespace hindsight::cli {
namespace {

struct Options {
  bench::RunOptions run;
  std::string json;
};

Result<void> run(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(OutputFile json, OutputFile::prepare(options.json));
  bench::RunOptions run_options = options.run;
  std::optional<ProgressBar> bar;
  run_options.progress = [&bar](std::size_t done, std::size_t all, const std::string&) {
    if (!bar) {
      bar.emplace(stderr, "bench", all);
    }
    bar->add(done == 0 ? 0 : 1);
  };
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<bench::Row> rows,
                             bench::run_benchmarks(run_options));
  bar.reset();
  if (json.wanted()) {
    HINDSIGHT_RETURN_IF_ERROR(json.write(bench::format_json(rows)));
  }
  const std::string table = bench::format_table(rows);
  std::fwrite(table.data(), 1, table.size(), stdout);
  return {};
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "bench", "Measure speed: ratios against a plain pass over the same data, within one run");
  command
      ->add_option("name", options->run.filter,
                   "Only this benchmark, e.g. draw/top10, or this group, e.g. tree")
      ->type_name("NAME");
  command->add_option("--max-n", options->run.max_n, "Leave out larger sizes")
      ->check(decimal_integer(std::numeric_limits<std::size_t>::max()))
      ->capture_default_str();
  command
      ->add_option("--seconds", options->run.seconds_per_workload,
                   "CPU time to spend on each benchmark, at least")
      ->check(check_decimal_number)
      ->capture_default_str();
  command->add_option("--json", options->json, "Also write the rows to this file")
      ->type_name("FILE");
  command->footer(
      "Examples:\n  hindsight bench --json bench.json\n  hindsight bench draw/top10 --max-n "
      "100000");
  command->callback([options, &exit_code] {
    const Result<void> result = run(*options);
    exit_code = result.ok() ? 0 : fail(result.error());
  });
}

}  // namespace hindsight::cli
