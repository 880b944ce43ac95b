// `hindsight serve`: the server, until a signal stops it.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h.
void add_serve_command(CLI::App& app, int& exit_code);

}  // namespace hindsight::cli
