#include "src/cli/discrete_choice_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/runner.h"
#include "src/cli/findings_command.h"
#include "src/cli/option_values.h"
#include "src/core/check.h"
#include "src/sim/discrete_choice_experiment.h"
#include "src/sim/discrete_choice_output.h"
#include "src/sim/parallel.h"
#include "src/sim/progress.h"

namespace hindsight::cli {
namespace {

constexpr const char* kTimeWorkload = "onlinerank/top10-click";
constexpr std::size_t kSmallestTimed = 10'000;

struct Options {
  std::string adversaries;  // lists are single words, with commas
  std::string rankers;
  std::string items;
  std::string choices;
  std::string rounds;
  std::uint32_t runs = 0;
  double effort = 1.0;
  std::uint64_t seed = 1;
  std::uint32_t threads = machine_threads();
  std::size_t time_up_to = 10'000'000;
  bool quick = false;
  FindingsOptions findings;
};

/// Replaces the values by those of the word, if there is one. REQUIRES: check_integers has nothing
/// to say
template <class T>
void take_integers(const std::string& word, std::vector<T>& values) {
  if (!word.empty()) {
    values.clear();
    for (const std::uint64_t value : split_integers(word)) {
      values.push_back(static_cast<T>(value));
    }
  }
}

DiscreteChoiceOptions experiment_options(const Options& options) {
  DiscreteChoiceOptions made;
  if (options.quick) {
    made.items = {6, 10, 30};
    made.rounds = {100, 1'000};
    made.ranking_items = {6};
    made.ranking_rounds = {100};
    made.runs = 4;
  }
  if (!options.adversaries.empty()) {
    made.adversaries = split_names(options.adversaries);
  }
  if (!options.rankers.empty()) {
    made.rankers = split_names(options.rankers);
  }
  take_integers(options.items, made.items);
  take_integers(options.choices, made.choices);
  take_integers(options.rounds, made.rounds);
  if (options.runs > 0) {
    made.runs = options.runs;
  }
  made.effort = options.effort;
  made.seed = options.seed;
  made.threads = options.threads;
  return made;
}

/// Times come from the benchmark of the same name.
Result<void> add_times(std::size_t up_to, DiscreteChoiceFindings& findings) {
  if (up_to < kSmallestTimed) {
    return {};
  }
  bench::RunOptions run;
  run.filter = kTimeWorkload;
  run.max_n = up_to;
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<bench::Row> rows, bench::run_benchmarks(run));
  std::vector<bench::Row> timed;
  for (const bench::Row& row : rows) {
    if (row.name == kTimeWorkload) {
      timed.push_back(row);
      findings.times.push_back({.n = row.n, .ns = row.ns});
    }
  }
  if (timed.size() >= 2) {
    findings.time_slope = bench::fit_slope(timed);
  }
  return {};
}

Result<Findings> find_out(const Options& options) {
  DiscreteChoiceOptions experiment = experiment_options(options);
  DiscreteChoiceFindings findings;
  findings.seed = options.seed;
  findings.quick = options.quick;
  {
    ProgressBar bar(stderr, "discrete-choice", discrete_choice_work(experiment));
    experiment.progress = [&bar](std::uint64_t work) { bar.add(work); };
    HINDSIGHT_ASSIGN_OR_RETURN(findings.result, run_discrete_choice(experiment));
  }
  HINDSIGHT_RETURN_IF_ERROR(add_times(options.time_up_to, findings));
  return Findings{.json = discrete_choice_json(findings),
                  .report = discrete_choice_report(findings),
                  .text = discrete_choice_text(findings)};
}

void add_size_options(CLI::App& command, Options& options) {
  const auto small = integers(std::numeric_limits<std::uint32_t>::max());
  command
      .add_option("--adversaries", options.adversaries,
                  "Who chooses; default: uniform,zipf,shifting,worst")
      ->check(check_names)
      ->type_name("NAME,...");
  command
      .add_option("--rankers", options.rankers,
                  "Only these; default: all that can be played at a size")
      ->check(check_names)
      ->type_name("NAME,...");
  command.add_option("--items", options.items, "Numbers of items; default: 6,10,100,1000")
      ->check(small)
      ->type_name("N,...");
  command
      .add_option("--choices", options.choices,
                  "Items chosen in a round, at most half of them; default: 1,5")
      ->check(small)
      ->type_name("K,...");
  command
      .add_option("--rounds", options.rounds,
                  "Lengths of games; default: 100,1000,10000,100000,1000000")
      ->check(integers(std::numeric_limits<std::uint64_t>::max()))
      ->type_name("T,...");
}

}  // namespace

void add_discrete_choice_command(CLI::App& experiment, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = experiment.add_subcommand(
      "discrete-choice",
      "Learn orders from choices and rankings: regret beside its bounds ([Ailon13])");
  add_size_options(*command, *options);
  command
      ->add_option("--effort", options->effort,
                   "Multiplies the number of runs, which is chosen by what a run costs")
      ->check(check_decimal_number)
      ->capture_default_str();
  add_run_options(*command, &options->runs, options->seed, &options->threads);
  command->get_option("--runs")->description(
      "Runs per row, with seeds S, S+1, ...; 0: by what a run costs");
  command
      ->add_option("--time-up-to", options->time_up_to,
                   "Time a round of OnlineRank with up to so many items, from 10,000 on; 0: do not")
      ->check(decimal_integer(std::numeric_limits<std::size_t>::max()))
      ->capture_default_str();
  command->add_flag("--quick", options->quick, "Short games with few items, four runs each");
  add_findings_options(*command, options->findings);
  command->footer(
      "Examples:\n  hindsight experiment discrete-choice --html report.html\n"
      "  hindsight experiment discrete-choice --adversaries uniform --items 10 --effort 5\n"
      "  hindsight experiment discrete-choice --quick --time-up-to 0");
  set_work(*command, exit_code, [options] {
    return write_findings(options->findings, [&] { return find_out(*options); });
  });
}

}  // namespace hindsight::cli
