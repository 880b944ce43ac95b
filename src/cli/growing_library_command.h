// `hindsight experiment growing-library`: [Delage09] section 5.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h; `experiment` is the subcommand that it belongs to.
void add_growing_library_command(CLI::App& experiment, int& exit_code);

}  // namespace hindsight::cli
