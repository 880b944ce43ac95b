// `hindsight rankers [NAME]`: which algorithms there are, what they promise and what they take.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h.
void add_rankers_command(CLI::App& app, int& exit_code);

}  // namespace hindsight::cli
