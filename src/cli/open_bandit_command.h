// `hindsight experiment open-bandit`: the off-policy estimators on logs of real users.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h; `experiment` is the subcommand that it belongs to.
void add_open_bandit_command(CLI::App& experiment, int& exit_code);

}  // namespace hindsight::cli
