#include "src/cli/experiment_command.h"

#include <CLI/CLI.hpp>

#include "src/cli/click_bandit_command.h"
#include "src/cli/discrete_choice_command.h"
#include "src/cli/dueling_letor_command.h"
#include "src/cli/dueling_synthetic_command.h"
#include "src/cli/growing_library_command.h"
#include "src/cli/open_bandit_command.h"

namespace hindsight::cli {

void add_experiment_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("experiment", "Run an experiment and show the paper's table beside ours");
  command->require_subcommand(1);
  command->footer("Example:\n  hindsight experiment growing-library --quick");
  add_growing_library_command(*command, exit_code);
  add_discrete_choice_command(*command, exit_code);
  add_open_bandit_command(*command, exit_code);
  add_dueling_synthetic_command(*command, exit_code);
  add_dueling_letor_command(*command, exit_code);
  add_click_bandit_commands(*command, exit_code);
}

}  // namespace hindsight::cli
