#include "src/cli/aggregate_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/cli/aggregation.h"
#include "src/cli/command.h"
#include "src/cli/option_values.h"
#include "src/cli/ranking_reader.h"
#include "src/core/check.h"
#include "src/server/json_writer.h"
#include "src/sim/progress.h"

namespace hindsight::cli {
namespace {

struct Options {
  std::string file;
  std::uint64_t seed = 1;
  std::size_t top = 20;
  bool json = false;
};

/// How it stood after 1, 2, 4, ... rankings, and in the end.
struct Course {
  std::vector<Standing> standings;
  std::optional<Aggregation> aggregation;
};

void print_row(const Standing& standing, const std::string& leader) {
  fmt::print("{:>12} {:>9.4f} {:>9.4f} {:>14.6g} {:>14.6g}  {}\n", standing.rankings,
             standing.online, standing.best, standing.regret, standing.bound, leader);
  std::fflush(stdout);
}

void print_head() {
  fmt::print("{:>12} {:>9} {:>9} {:>14} {:>14}  {}\n", "rankings", "online", "consensus", "regret",
             "its bound", "first");
}

Result<Course> read_all(RankingReader& reader, const Options& options) {
  // The lines of the table show how far it is; JSON comes at the end alone.
  std::optional<ProgressBar> progress;
  if (options.json && reader.size() > 0) {
    progress.emplace(stderr, options.file, reader.size());
  }
  Course course;
  std::uint64_t drawn = 0;
  std::uint64_t rankings = 0;
  while (true) {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::span<const ItemIndex> ranking, reader.next());
    if (ranking.empty()) {
      break;
    }
    if (!course.aggregation) {
      course.aggregation.emplace(ranking.size(), options.seed);
    }
    HINDSIGHT_RETURN_IF_ERROR(course.aggregation->add(ranking));
    ++rankings;
    if (progress) {
      progress->add(reader.bytes() - drawn);
      drawn = reader.bytes();
    }
    if (std::has_single_bit(rankings)) {
      course.standings.push_back(course.aggregation->standing());
      if (!options.json) {
        if (rankings == 1) {
          print_head();
        }
        print_row(course.standings.back(), reader.ids()[course.aggregation->consensus().front()]);
      }
    }
  }
  if (rankings == 0) {
    return Error{ErrorCode::kParse, "there is no ranking in it", options.file};
  }
  if (!std::has_single_bit(rankings)) {
    course.standings.push_back(course.aggregation->standing());
  }
  return course;
}

void print(const Course& course, const RankingReader& reader, const Options& options) {
  const Standing& end = course.standings.back();
  const std::vector<ItemIndex> consensus = course.aggregation->consensus();
  if (!std::has_single_bit(end.rankings)) {
    print_row(end, reader.ids()[consensus.front()]);
  }
  fmt::print("\nConsensus of {} rankings of {} items, mean rank, best first:\n", end.rankings,
             consensus.size());
  const std::size_t count = options.top == 0 ? consensus.size() : options.top;
  for (std::size_t i = 0; i < std::min(count, consensus.size()); ++i) {
    fmt::print("{:>7} {:>12.4f}  {}\n", i + 1, course.aggregation->mean_rank(consensus[i]),
               reader.ids()[consensus[i]]);
  }
  if (count < consensus.size()) {
    fmt::print("{:>7} ({} more; --top 0 shows all)\n", "...", consensus.size() - count);
  }
  fmt::print(
      "\nMean Spearman correlation with the rankings: {:.4f} of the consensus, which no fixed "
      "order\n"
      "surpasses; {:.4f} of the lists that OnlineRank drew before it saw each ranking. Regret, in\n"
      "the sum of positions: {:.6g}; its expectation is at most {:.6g} whatever the rankings "
      "are.\n",
      end.best, end.online, end.regret, end.bound);
}

void write(JsonWriter& json, const Standing& standing) {
  json.key("rankings").whole(standing.rankings);
  json.key("online_spearman").number(standing.online);
  json.key("spearman").number(standing.best);
  json.key("regret").number(standing.regret);
  json.key("bound").number(standing.bound);
}

void print_json(const Course& course, const RankingReader& reader, const Options& options) {
  JsonWriter json;
  json.object([&] {
    write(json, course.standings.back());
    json.key("seed").whole(options.seed);
    json.key("items").whole(reader.ids().size());
    json.key("consensus").array(course.aggregation->consensus(), [&](ItemIndex item) {
      json.object([&] {
        json.key("id").text(reader.ids()[item]);
        json.key("mean_rank").number(course.aggregation->mean_rank(item));
      });
    });
    json.key("course").array(course.standings, [&](const Standing& standing) {
      json.object([&] { write(json, standing); });
    });
  });
  fmt::print("{}\n", json.take());
}

Result<void> aggregate(const Options& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(RankingReader reader, RankingReader::open(options.file));
  HINDSIGHT_ASSIGN_OR_RETURN(const Course course, read_all(reader, options));
  options.json ? print_json(course, reader, options) : print(course, reader, options);
  return {};
}

}  // namespace

void add_aggregate_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "aggregate", "Learn a consensus of rankings while they are read (online rank aggregation)");
  command
      ->add_option("file", options->file, "Rankings, one per line, best first; - is standard input")
      ->required()
      ->type_name("FILE");
  command->add_option("--top", options->top, "How many items to print; 0: all")
      ->check(decimal_integer(kMaxRankedItems))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the lists that are drawn")
      ->check(decimal_integer(std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON, all items included");
  command->footer(
      "Ids are separated by spaces, tabs or commas; blank lines and lines that begin with # are\n"
      "passed over. Every ranking names the items of the first one, each once. After 1, 2, 4, ...\n"
      "rankings a line says how it stands: Spearman's correlation with the rankings, in the mean,\n"
      "of the lists that OnlineRank drew before it saw them, and of the best order in hindsight,\n"
      "which sorts by mean rank; and the regret between the two, with the bound on it.\n"
      "Examples:\n"
      "  hindsight aggregate votes.txt\n"
      "  hindsight aggregate --top 3 --json votes.csv\n"
      "  printf 'ann bob cy\\nbob ann cy\\n' | hindsight aggregate -");
  command->callback([options, &exit_code] {
    const Result<void> done = aggregate(*options);
    exit_code = done.ok() ? 0 : fail(done.error());
  });
}

}  // namespace hindsight::cli
