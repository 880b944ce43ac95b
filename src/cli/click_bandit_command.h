// `hindsight experiment click-models` and `hindsight experiment movielens`.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// REQUIRES: exit_code outlives the parsing
void add_click_bandit_commands(CLI::App& experiment, int& exit_code);

}  // namespace hindsight::cli
