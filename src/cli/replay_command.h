// `hindsight replay LOG --ranker NAME`: fold a log again, with the same or another ranker.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h.
void add_replay_command(CLI::App& app, int& exit_code);

}  // namespace hindsight::cli
