// What the subcommands of `hindsight experiment` share: where the data lie and the findings go, and
// the options that most of them have.
//
// Thread-safety: main thread only.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "hindsight/result.h"
#include "src/cli/findings_files.h"
#include "src/core/check.h"
#include "src/sim/report.h"

namespace CLI {
class App;
}

namespace hindsight::cli {

/// --json and --html.
struct FindingsOptions {
  std::string json;
  std::string html;
};

void add_findings_options(CLI::App& command, FindingsOptions& options);

/// --runs, --seed and --threads; the first and the last only where there is a variable for them.
void add_run_options(CLI::App& command, std::uint32_t* runs, std::uint64_t& seed,
                     std::uint32_t* threads);

/// --data: the folder of a data set. `contents` says what lies in it.
void add_data_option(CLI::App& command, std::string& folder, const std::string& name,
                     const std::string& contents);

/// The folder that was given, or that of the data set in it; where none was given, the usual places
/// (../shared/data/NAME, data/NAME). The first that `fits`. FAILS: kInvalidArgument
Result<std::filesystem::path> find_data_folder(
    const std::string& given, const std::string& name, const std::string& contents,
    const std::function<bool(const std::filesystem::path&)>& fits);

/// What an experiment found, in its three forms.
struct Findings {
  std::string json;
  Report report;
  std::string text;
};

/// Finds out and writes, with the files tried first. FAILS: as FindingsFiles and `find_out`
Result<void> write_findings(const FindingsOptions& options,
                            const std::function<Result<Findings>()>& find_out);

/// Gives the command its work: what `run` returns becomes the exit code.
void set_work(CLI::App& command, int& exit_code, std::function<Result<void>()> run);

}  // namespace hindsight::cli
