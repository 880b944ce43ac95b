// `hindsight experiment NAME`: run an experiment of a paper and show its table beside ours.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h.
void add_experiment_command(CLI::App& app, int& exit_code);

}  // namespace hindsight::cli
