// The program `hindsight`: parse, call, format. What it can do is in the subcommands.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/cli/aggregate_command.h"
#include "src/cli/backup_command.h"
#include "src/cli/bench_command.h"
#include "src/cli/check_command.h"
#include "src/cli/command.h"
#include "src/cli/experiment_command.h"
#include "src/cli/key_command.h"
#include "src/cli/rankers_command.h"
#include "src/cli/replay_command.h"
#include "src/cli/serve_command.h"
#include "src/server/toml_table.h"

namespace hindsight::cli {
namespace {

constexpr int kUsageError = 2;
constexpr int kMachineError = 1;

constexpr const char* kExamples =
    "Examples:\n"
    "  hindsight serve --data ./hindsight-data\n"
    "  hindsight key add --role rank --collections books\n"
    "  hindsight backup hindsight-data --to backups/monday\n"
    "  hindsight rankers\n"
    "  hindsight aggregate votes.txt\n"
    "  hindsight experiment growing-library --html report.html\n"
    "  hindsight bench --json bench.json\n"
    "`hindsight COMMAND --help` says more about a command.";

/// The command that the user was writing when parsing failed: its help is the one to read.
struct Innermost {
  const CLI::App* command;
  std::string path;
};

Innermost innermost_command(const CLI::App& app) {
  Innermost found{&app, app.get_name()};
  while (!found.command->get_subcommands().empty()) {
    found.command = found.command->get_subcommands().back();
    found.path += ' ' + found.command->get_name();
  }
  return found;
}

/// RETURNS: what to say about the first of these that looks like an option; empty where none does.
std::string unknown_option(const CLI::App& command, const std::vector<std::string>& unknown) {
  const auto found = std::find_if(unknown.begin(), unknown.end(), [](const std::string& word) {
    return word.starts_with("--") && word.size() > 2;
  });
  if (found == unknown.end()) {
    return {};
  }
  const std::string word = found->substr(2, found->find('=') - 2);
  std::vector<std::string_view> names;
  for (const CLI::Option* option : command.get_options()) {
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  const std::string_view near = nearest_name(word, names);
  return "there is no option --" + word +
         (near.empty() ? std::string() : "; did you mean --" + std::string(near) + "?");
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // --help and --version arrive as exceptions, too
    return app.exit(error);
  }
  std::string message = error.what();
  const Innermost at = innermost_command(app);
  const std::vector<std::string> unknown = at.command->remaining();
  if (at.command->get_require_subcommand_min() > 0 && !unknown.empty()) {
    message = "there is no command '" + unknown.front() + "'";
  } else if (std::string option = unknown_option(*at.command, unknown); !option.empty()) {
    message = std::move(option);
  }
  while (!message.empty() && (message.back() == '.' || message.back() == '\n')) {
    message.pop_back();
  }
  print_error(message + (message.ends_with('?') ? " Try `" : "; try `") + at.path + " --help`");
  return kUsageError;
}

int run(int argc, char** argv) {
  CLI::App app("Hindsight: rankings that learn from every click.", "hindsight");
  app.set_version_flag("--version", "hindsight " HINDSIGHT_VERSION);
  app.require_subcommand(1);
  app.footer(kExamples);

  int exit_code = 0;
  add_serve_command(app, exit_code);
  add_key_command(app, exit_code);
  add_check_command(app, exit_code);
  add_backup_command(app, exit_code);
  add_experiment_command(app, exit_code);
  add_bench_command(app, exit_code);
  add_rankers_command(app, exit_code);
  add_replay_command(app, exit_code);
  add_aggregate_command(app, exit_code);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = report_parse_error(app, error);
  }
  // A full disk shows only here; a report cut short must not look like success.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && exit_code == 0) {
    exit_code =
        fail({ErrorCode::kIo, "could not write to standard output; is the disk full?", "stdout"});
  }
  return exit_code;
}

}  // namespace
}  // namespace hindsight::cli

int main(int argc, char** argv) {
  try {
    return hindsight::cli::run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, and whatever a library throws
    hindsight::cli::print_error(error.what());
    return hindsight::cli::kMachineError;
  }
}
