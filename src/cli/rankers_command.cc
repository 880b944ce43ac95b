#include "src/cli/rankers_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "hindsight/registry.h"
#include "src/cli/command.h"
#include "src/cli/registry_format.h"

namespace hindsight::cli {
namespace {

struct Options {
  std::string name;  // empty: all
  bool json = false;
  bool markdown = false;
};

int run(const Options& options) {
  std::span<const RankerInfo> rankers = ranker_registry();
  if (!options.name.empty()) {
    const Result<const RankerInfo*> found = find_ranker(options.name);
    if (!found.ok()) {
      return fail(found.error());
    }
    rankers = {*found, 1};
  }
  const std::string text = options.json       ? registry_as_json(rankers)
                           : options.markdown ? registry_as_markdown(rankers)
                                              : registry_as_text(rankers);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

void add_rankers_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("rankers", "List the rankers: parameters, paper, guarantee, assumptions");
  command->add_option("name", options->name, "Show this ranker only")->type_name("NAME");
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--markdown", options->markdown, "Print the page docs/rankers.md")
      ->excludes(json);
  command->footer("Example:\n  hindsight rankers noregret-klrank");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace hindsight::cli
