// `hindsight experiment dueling-synthetic`: [Yue09] Table 1 and Figure 2.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h; `experiment` is the subcommand that it belongs to.
void add_dueling_synthetic_command(CLI::App& experiment, int& exit_code);

}  // namespace hindsight::cli
