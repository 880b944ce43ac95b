// `hindsight check`: is a data folder whole?

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

void add_check_command(CLI::App& app, int& exit_code);

}  // namespace hindsight::cli
