// `hindsight replay LOG --ranker NAME`: fold a log again, with the same or another ranker, and say
// how the other would have done.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h.
void add_replay_command(CLI::App& app, int& exit_code);

}  // namespace hindsight::cli
