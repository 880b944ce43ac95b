// `hindsight bench [NAME]`: how fast it is, as ratios taken inside one run.

#pragma once

namespace CLI {
class App;
}

namespace hindsight::cli {

/// See command.h.
void add_bench_command(CLI::App& app, int& exit_code);

}  // namespace hindsight::cli
