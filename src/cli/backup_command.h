// `hindsight backup`: a copy of a data folder, beside the server that uses it.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

void add_backup_command(CLI::App& app, int& exit_code);

}  // namespace hindsight::cli
