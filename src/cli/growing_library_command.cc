#include "src/cli/growing_library_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/registry.h"
#include "src/cli/findings_command.h"
#include "src/cli/option_values.h"
#include "src/core/check.h"
#include "src/sim/data_sets.h"
#include "src/sim/growing_library_experiment.h"
#include "src/sim/growing_library_output.h"
#include "src/sim/parallel.h"
#include "src/sim/progress.h"

namespace hindsight::cli {
namespace {

constexpr std::size_t kQuickQueries = 2000;
constexpr std::uint32_t kQuickAdversaryQueries = 1024;

struct Options {
  std::string data;
  std::string datasets;  // lists are single words, with commas
  std::string topic_column;
  std::string rankers;
  std::string alphas;
  std::uint32_t runs = 1;
  std::uint64_t seed = 1;
  std::uint32_t threads = machine_threads();
  bool quick = false;
  bool verbose = false;
  FindingsOptions findings;
};

GrowingLibraryOptions experiment_options(const Options& options) {
  GrowingLibraryOptions made;
  if (!options.rankers.empty()) {
    made.rankers = split_names(options.rankers);
  }
  made.runs = options.runs;
  made.seed = options.seed;
  made.threads = options.threads;
  if (options.quick) {
    made.alphas = {};
    made.max_queries = kQuickQueries;
    made.adversary.queries = kQuickAdversaryQueries;
  }
  if (!options.alphas.empty()) {
    made.alphas = split_numbers(options.alphas);
    made.alphas_given = true;
  }
  return made;
}

DataChoice data_choice(const Options& options) {
  DataChoice choice;
  if (!options.datasets.empty()) {
    choice.names = split_names(options.datasets);
  }
  choice.seed = options.seed;
  if (!options.data.empty()) {
    choice.data = options.data;
  }
  if (!options.topic_column.empty()) {
    choice.topic_column = options.topic_column;
  }
  return choice;
}

/// One line per iteration of the solver; one call, so that lines of threads do not mix.
void print_solver_line(const std::string& dataset, double alpha, const NewtonStatus& status) {
  std::fprintf(stderr, "%s alpha %g: iteration %d, value %.6f, gap %.3g, %d Hessian products\n",
               dataset.c_str(), alpha, status.iteration, status.value, status.gap,
               status.hessian_products);
}

Result<Findings> find_out(const Options& options) {
  const RankerFactory factory = [](const std::string& name, const ParamMap& params) {
    return make_ranker(name, params);
  };
  HINDSIGHT_ASSIGN_OR_RETURN(ChosenLibraries chosen, load_libraries(data_choice(options)));
  GrowingLibraryOptions experiment = experiment_options(options);
  GrowingLibraryFindings findings;
  findings.seed = options.seed;
  findings.runs = options.runs;
  findings.quick = options.quick;
  findings.notes = std::move(chosen.notes);
  findings.adversary_params = experiment.adversary;
  for (const GrowingLibrary& library : chosen.libraries) {
    std::optional<ProgressBar> bar;
    if (options.verbose) {  // its lines would cut through the bar
      experiment.solver_progress = [&library](double alpha, const NewtonStatus& status) {
        print_solver_line(library.name, alpha, status);
      };
    } else {
      bar.emplace(stderr, library.name, total_queries(library, experiment));
      experiment.progress = [&bar](std::uint64_t queries) { bar->add(queries); };
    }
    HINDSIGHT_ASSIGN_OR_RETURN(GrowingLibraryResult result,
                               run_growing_library(library, experiment, factory));
    findings.notes.insert(findings.notes.end(), result.notes.begin(), result.notes.end());
    findings.sets.push_back(std::move(result));
  }
  experiment.progress = nullptr;
  experiment.solver_progress = nullptr;
  HINDSIGHT_ASSIGN_OR_RETURN(findings.adversary, run_adversary(experiment, factory));
  return Findings{.json = growing_library_json(findings),
                  .report = growing_library_report(findings),
                  .text = growing_library_text(findings)};
}

}  // namespace

void add_growing_library_command(CLI::App& experiment, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = experiment.add_subcommand(
      "growing-library", "Papers join a library; citations are queries ([Delage09] section 5)");
  command
      ->add_option("--data", options->data,
                   "Folder with papers.tsv and citations.tsv (or .zst), or a folder of such "
                   "folders; default: ../shared/data or ./data, else a synthetic library")
      ->type_name("DIR");
  command
      ->add_option("--dataset", options->datasets,
                   "Data sets by name, 'synthetic', 'synthetic-change' (half-way users begin to "
                   "want what is new), or 'all' (but the latter); default: cora")
      ->check(check_names)
      ->type_name("NAME,...");
  command
      ->add_option("--topic-column", options->topic_column,
                   "Column of papers.tsv that holds the topic; default: topic (venue for aan)")
      ->type_name("NAME");
  command->add_option("--rankers", options->rankers, "Only these rows of the table; default: all")
      ->check(check_names)
      ->type_name("NAME,...");
  command
      ->add_option("--alpha", options->alphas,
                   "Values for the gradient rankers; default: 0.3,1,3,10, with 3 (1 for "
                   "online-ranknet) in the table")
      ->check(check_numbers)
      ->type_name("X,...");
  add_run_options(*command, &options->runs, options->seed, &options->threads);
  command->add_flag("--quick", options->quick, "Only the first 2,000 queries, and no sweep");
  command->add_flag("--verbose", options->verbose,
                    "Say on standard error how the search for the best policy goes");
  add_findings_options(*command, options->findings);
  command->footer(
      "Example:\n  hindsight experiment growing-library --data ../shared/data --dataset all "
      "--html report.html");
  set_work(*command, exit_code, [options] {
    return write_findings(options->findings, [&] { return find_out(*options); });
  });
}

}  // namespace hindsight::cli
