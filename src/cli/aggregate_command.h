// `hindsight aggregate FILE`: a consensus of rankings, learned while they are read.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h.
void add_aggregate_command(CLI::App& app, int& exit_code);

}  // namespace hindsight::cli
