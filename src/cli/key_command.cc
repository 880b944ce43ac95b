#include "src/cli/key_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/option_values.h"
#include "src/core/check.h"
#include "src/engine/engine.h"
#include "src/server/keys.h"

namespace hindsight::cli {
namespace {

struct Options {
  std::string data = "hindsight-data";
  std::string role;
  std::string collections;
  std::string origins;
  std::string id;
};

Result<void> check_folder(const std::string& folder) {
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed)) {
    if (failed && failed != std::errc::no_such_file_or_directory) {
      return Error{ErrorCode::kIo, "cannot look into " + folder + ": " + failed.message(),
                   "--data"};
    }
    return Error{ErrorCode::kNotFound, "there is no folder " + folder + "; start the server first",
                 "--data"};
  }
  return {};
}

std::vector<std::string> names(const std::string& word) {
  return word.empty() ? std::vector<std::string>() : split_names(word);
}

std::string joined(const std::vector<std::string>& words, const char* none) {
  return words.empty() ? none : fmt::format("{}", fmt::join(words, ","));
}

std::string day(std::int64_t time_ms) {
  constexpr std::int64_t kMsPerSecond = 1000;
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(time_ms / kMsPerSecond)));
}

Result<void> add(const Options& options) {
  HINDSIGHT_RETURN_IF_ERROR(check_folder(options.data));
  HINDSIGHT_ASSIGN_OR_RETURN(const NewKey key, add_key(options.data,
                                                       {.role = options.role,
                                                        .collections = names(options.collections),
                                                        .origins = names(options.origins)},
                                                       system_clock_ms()));
  fmt::print("Key {} has the role {}. Keep it: it is shown this once.\n{}\n", key.id, options.role,
             key.text);
  return {};
}

Result<void> list(const Options& options) {
  HINDSIGHT_RETURN_IF_ERROR(check_folder(options.data));
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<KeyRecord> records, list_keys(options.data));
  fmt::print("{:<13} {:<12} {:<11} {:<11} {:<20} {}\n", "id", "role", "made", "revoked",
             "collections", "origins");
  for (const KeyRecord& record : records) {
    fmt::print("{:<13} {:<12} {:<11} {:<11} {:<20} {}\n", record.principal.id,
               role_word(record.principal), day(record.created_ms),
               record.revoked_ms ? day(*record.revoked_ms) : "-",
               joined(record.principal.collections, "all"), joined(record.principal.origins, "-"));
  }
  return {};
}

Result<void> revoke(const Options& options) {
  HINDSIGHT_RETURN_IF_ERROR(check_folder(options.data));
  HINDSIGHT_ASSIGN_OR_RETURN(const bool now,
                             revoke_key(options.data, options.id, system_clock_ms()));
  fmt::print("Key {} {}.\n", options.id,
             now ? "is revoked; a running server refuses it within seconds" : "was revoked before");
  return {};
}

void add_data_option(CLI::App& command, Options& options) {
  command.add_option("--data", options.data, "Folder of the server's data")
      ->type_name("DIR")
      ->envname("HINDSIGHT_DATA")
      ->capture_default_str();
}

}  // namespace

void add_key_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("key", "Make, list and revoke keys, also while it serves");
  command->require_subcommand(1);
  const auto run = [options, &exit_code](Result<void> (*work)(const Options&)) {
    return [options, &exit_code, work] {
      const Result<void> result = work(*options);
      exit_code = result.ok() ? 0 : fail(result.error());
    };
  };

  CLI::App* adding = command->add_subcommand("add", "Make a key; it stands alone on the last line");
  add_data_option(*adding, *options);
  adding
      ->add_option("--role", options->role,
                   "admin, items, rank, click, read, or publishable (clicks from web pages)")
      ->type_name("ROLE")
      ->required();
  adding->add_option("--collections", options->collections, "Only these; all unless given")
      ->type_name("A,B")
      ->check(check_names);
  adding
      ->add_option("--origins", options->origins,
                   "For publishable keys: the pages that may use it, e.g. https://shop.example")
      ->type_name("A,B")
      ->check(check_names);
  adding->footer(
      "Examples:\n"
      "  hindsight key add --role rank --collections books,films\n"
      "  hindsight key add --role publishable --origins https://shop.example");
  adding->callback(run(add));

  CLI::App* listing = command->add_subcommand("list", "Show every key's id, role and scope");
  add_data_option(*listing, *options);
  listing->footer(
      "Example:\n"
      "  hindsight key list --data /var/lib/hindsight");
  listing->callback(run(list));

  CLI::App* revoking = command->add_subcommand("revoke", "Revoke a key for ever");
  add_data_option(*revoking, *options);
  revoking->add_option("id", options->id, "As `hindsight key list` shows it")
      ->type_name("ID")
      ->required();
  revoking->footer(
      "Example:\n"
      "  hindsight key revoke 1f2e3d4c5b6a");
  revoking->callback(run(revoke));

  command->footer(
      "Examples:\n"
      "  hindsight key add --role rank --collections books,films\n"
      "  hindsight key add --role publishable --origins https://shop.example\n"
      "  hindsight key list --data /var/lib/hindsight\n"
      "  hindsight key revoke 1f2e3d4c5b6a");
}

}  // namespace hindsight::cli
