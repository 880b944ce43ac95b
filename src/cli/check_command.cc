#include "src/cli/check_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/core/check.h"
#include "src/engine/folder_check.h"
#include "src/server/json_writer.h"
#include "src/server/keys.h"
#include "src/sim/progress.h"
#include "src/store/sqlite_check.h"

namespace hindsight::cli {
namespace {

struct Options {
  std::string folder;
  bool json = false;
};

struct Report {
  std::vector<CollectionCheck> collections;
  std::size_t keys = 0;
  std::vector<Finding> findings;
};

void check_keys(const std::string& folder, Report& report) {
  const Result<std::vector<KeyRecord>> keys = list_keys(folder);
  if (keys.ok()) {
    report.keys = keys->size();
  } else if (keys.error().code == ErrorCode::kNotFound) {
    report.findings.push_back(
        {kKeyFile,
         "is missing: the next start makes a new admin key, and no key handed out before opens "
         "anything. Restore it from a copy to keep them"});
  } else {
    report.findings.push_back({kKeyFile, keys.error().message});
  }
}

Result<Report> check(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(CheckedStore store, check_sqlite_store(options.folder));
  Report report;
  report.findings = std::move(store.findings);
  if (store.view) {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogInfo> logs, store.view->logs());
    for (const LogInfo& log : logs) {
      HINDSIGHT_ASSIGN_OR_RETURN(const Position head, store.view->head(log.id));
      ProgressBar bar(stderr, log.name, head);
      Position done = 0;
      FoldOptions fold;
      fold.progress = [&](Position position) {
        bar.add(position - std::min(done, position));  // a fold that begins again stands still
        done = std::max(done, position);
      };
      report.collections.push_back(check_collection(*store.view, log, fold, report.findings));
    }
  }
  check_keys(options.folder, report);
  return report;
}

void print(const Report& report) {
  for (const CollectionCheck& one : report.collections) {
    fmt::print("collection {}: {} events, {} good snapshots, model hash {}\n", one.name, one.events,
               one.snapshots, one.model_hash.empty() ? "unknown" : one.model_hash);
  }
  fmt::print("keys: {}\n", report.keys);
  for (const Finding& finding : report.findings) {
    fmt::print("PROBLEM {}: {}\n", finding.file, finding.problem);
  }
  fmt::print("{}\n", report.findings.empty()
                         ? "all is well"
                         : fmt::format("{} problem(s); where no line says what to do, restore a "
                                       "backup (docs/operations.md, Is the folder whole?)",
                                       report.findings.size()));
}

void print_json(const Options& options, const Report& report) {
  JsonWriter out;
  out.object([&] {
    out.key("folder").text(options.folder);
    out.key("ok").flag(report.findings.empty());
    out.key("collections").array(report.collections, [&](const CollectionCheck& one) {
      out.object([&] {
        out.key("name").text(one.name);
        out.key("events").whole(one.events);
        out.key("snapshots").whole(one.snapshots);
        out.key("model_hash").text(one.model_hash);
      });
    });
    out.key("keys").whole(report.keys);
    out.key("problems").array(report.findings, [&](const Finding& finding) {
      out.object([&] {
        out.key("file").text(finding.file);
        out.key("message").text(finding.problem);
      });
    });
  });
  fmt::print("{}\n", out.take());
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("check", "Read everything in a data folder, and say what is wrong");
  command->add_option("data", options->folder, "Data folder that no server uses, or a backup")
      ->required()
      ->type_name("DIR");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Reads every event and checks it, folds every log, compares each snapshot with the fold, "
      "and\n"
      "reads the keys. Changes none of it. Exit codes: 0 all is well, 1 something is wrong with "
      "the\n"
      "folder, 2 it could not be checked (no such folder, or a server uses it).\n"
      "Example:\n"
      "  hindsight check hindsight-data");
  command->callback([options, &exit_code] {
    constexpr int kWrong = 1;
    constexpr int kNotChecked = 2;
    const Result<Report> report = check(*options);
    if (!report.ok()) {
      fail(report.error());
      exit_code = kNotChecked;
      return;
    }
    options->json ? print_json(*options, *report) : print(*report);
    exit_code = report->findings.empty() ? 0 : kWrong;
  });
}

}  // namespace hindsight::cli
