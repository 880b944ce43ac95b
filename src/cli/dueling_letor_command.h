// `hindsight experiment dueling-letor`: [Yue09] Tables 2 and 3.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h; `experiment` is the subcommand that it belongs to.
void add_dueling_letor_command(CLI::App& experiment, int& exit_code);

}  // namespace hindsight::cli
