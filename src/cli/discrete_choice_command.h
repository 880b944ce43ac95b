// `hindsight experiment discrete-choice`: OnlineRank and its rivals in the game of [Ailon13].

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h; `experiment` is the subcommand that it belongs to.
void add_discrete_choice_command(CLI::App& experiment, int& exit_code);

}  // namespace hindsight::cli
