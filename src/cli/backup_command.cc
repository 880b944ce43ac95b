#include "src/cli/backup_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "src/cli/command.h"
#include "src/cli/kill_point.h"
#include "src/core/check.h"
#include "src/server/keys.h"
#include "src/sim/progress.h"
#include "src/store/sqlite_backup.h"

namespace hindsight::cli {
namespace {

struct Options {
  std::string from;
  std::string to;
};

Result<void> backup(const Options& options) {
  const char* const kill_at = std::getenv("HINDSIGHT_KILL_AT");
  BackupOptions wanted{.from = options.from,
                       .to = options.to,
                       .other_files = {kKeyFile, kAdminKeyFile, "audit.log", "audit.log.1"}};
  HINDSIGHT_ASSIGN_OR_RETURN(wanted.at_point, kill_point(kill_at == nullptr ? "" : kill_at));
  std::optional<ProgressBar> bar;
  std::uint64_t shown = 0;
  wanted.progress = [&](std::uint64_t done, std::uint64_t pages) {
    if (!bar) {
      bar.emplace(stderr, "backup", pages);
    }
    bar->add(done - shown);
    shown = done;
  };
  HINDSIGHT_ASSIGN_OR_RETURN(const BackupReport report, backup_sqlite_store(wanted));
  bar.reset();
  fmt::print("{} holds {} collections with {} events and {} snapshots\n", options.to, report.logs,
             report.entries, report.snapshots);
  return {};
}

}  // namespace

void add_backup_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("backup", "Copy a data folder, also while a server uses it");
  command->add_option("data", options->from, "Data folder")->required()->type_name("DIR");
  command->add_option("--to", options->to, "Where the copy goes: a new or empty folder")
      ->required()
      ->type_name("DIR2");
  command->footer(
      "Everything acknowledged before it began is in the copy. To restore, stop the server and "
      "put\n"
      "the copy in the data folder's place. `hindsight check DIR2` reads it through.\n"
      "Example:\n"
      "  hindsight backup hindsight-data --to backups/monday");
  command->callback([options, &exit_code] {
    const Result<void> done = backup(*options);
    exit_code = done.ok() ? 0 : fail(done.error());
  });
}

}  // namespace hindsight::cli
