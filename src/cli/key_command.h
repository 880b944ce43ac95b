// `hindsight key add|list|revoke`: who may call the server, also while it runs.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h.
void add_key_command(CLI::App& app, int& exit_code);

}  // namespace hindsight::cli
