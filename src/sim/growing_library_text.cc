#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "src/sim/delage_table2.h"
#include "src/sim/growing_library_output.h"
#include "src/sim/text_table.h"

namespace hindsight {
namespace {

std::string format_alpha(const std::optional<double>& alpha) {
  return alpha ? fmt::format("{}", *alpha) : std::string();
}

std::vector<std::string> own_cells(const GrowingLibraryRow& row) {
  return {row.ranker,
          format_alpha(row.alpha),
          format_cost(row.kl_cost),
          format_share(row.rel_distance),
          format_share(row.first_rate),
          format_share(row.ndcg)};
}

void add_regret_cells(const GrowingLibraryRow& row, std::vector<std::string>& cells) {
  if (row.regret.empty()) {
    cells.insert(cells.end(), 3, "");
    return;
  }
  const RegretBracket& last = row.regret.back();
  cells.push_back(std::isnan(last.upper)
                      ? std::string()
                      : format_count(last.lower) + " to " + format_count(last.upper));
  cells.push_back(format_count(last.data_bound));
  cells.push_back(format_count(last.theorem_bound));
}

std::string main_table(const GrowingLibraryResult& set) {
  TextTable table({"ranker", "alpha", "K-L", "dist.", "first", "NDCG", "regret", "data bound",
                   "bound", "| paper: K-L", "dist.", "first", "NDCG", "| information"});
  for (const GrowingLibraryRow& row : set.rows) {
    if (!row.headline) {
      continue;
    }
    std::vector<std::string> cells = own_cells(row);
    add_regret_cells(row, cells);
    if (const DelageTable2Row* paper = find_delage_table2(row.ranker)) {
      cells.push_back(format_cost({paper->kl_cost, {}, {}}));
      cells.push_back(format_share({paper->rel_distance, {}, {}}));
      cells.push_back(format_share({paper->first_rate, {}, {}}));
      cells.push_back(format_share({paper->ndcg, {}, {}}));
    } else {
      cells.insert(cells.end(), 4, "");
    }
    cells.push_back(row.information);
    table.add(std::move(cells));
  }
  return table.str();
}

std::string sweep_table(const GrowingLibraryResult& set) {
  TextTable table(
      {"ranker", "alpha", "K-L", "dist.", "first", "NDCG", "regret", "data bound", "bound"});
  bool any = false;
  for (const GrowingLibraryRow& row : set.rows) {
    if (!row.headline) {
      std::vector<std::string> cells = own_cells(row);
      add_regret_cells(row, cells);
      table.add(std::move(cells));
      any = true;
    }
  }
  return any ? fmt::format("  other values of alpha\n{}\n", table.str()) : std::string();
}

std::string left_out(const GrowingLibraryResult& set) {
  const LibraryCounts& counts = set.counts;
  std::vector<std::string> parts;
  const auto say = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) {
      parts.push_back(fmt::format("{} {}", format_count(static_cast<double>(count)), what));
    }
  };
  say(counts.without_year_or_topic, "papers without year or topic");
  say(counts.repeated_papers, "repeated papers");
  say(counts.self_citations, "self citations");
  say(counts.unknown_ends, "citations with an unknown end");
  say(counts.repeated_citations, "repeated citations");
  say(set.not_yet_there, "citations of papers not yet there");
  return parts.empty() ? std::string() : fmt::format("  left out: {}\n", fmt::join(parts, ", "));
}

std::string set_text(const GrowingLibraryResult& set) {
  std::string out = fmt::format("{}: {} papers, {} topics, {} queries, {} candidates on average\n",
                                set.dataset, format_count(static_cast<double>(set.papers)),
                                set.topics, format_count(static_cast<double>(set.queries)),
                                format_count(set.mean_candidates));
  out += left_out(set) + '\n' + main_table(set) + '\n' + sweep_table(set);
  for (const std::string& remark : growing_library_remarks(set)) {
    out += fmt::format("  {}\n", remark);
  }
  return out + '\n';
}

std::string adversary_text(const GrowingLibraryFindings& findings) {
  if (findings.adversary.empty()) {
    return {};
  }
  TextTable table({"ranker", "alpha", "K-L", "dist.", "first", "NDCG"});
  for (const GrowingLibraryRow& row : findings.adversary) {
    table.add(own_cells(row));
  }
  return fmt::format(
             "adversary ([Delage09] Remark 3.1): {} items, {} queries, each wanting what the "
             "ranker likes least\n\n",
             findings.adversary_params.items,
             format_count(static_cast<double>(findings.adversary_params.queries))) +
         table.str();
}

std::string with_error(const std::string& value, const std::optional<double>& error, double scale,
                       int digits) {
  return error ? fmt::format("{} ±{:.{}f}", value, *error * scale, digits) : value;
}

const GrowingLibraryRow* find_row(const GrowingLibraryResult& set, std::string_view ranker,
                                  std::optional<double> alpha) {
  for (const GrowingLibraryRow& row : set.rows) {
    if (row.ranker == ranker && (!alpha || row.alpha == alpha)) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace

std::string format_cost(const Measure& measure) {
  return std::isinf(measure.mean)
             ? "∞"
             : with_error(fmt::format("{:.2f}", measure.mean), measure.run_error, 1.0, 3);
}

std::string format_share(const Measure& measure) {
  return with_error(fmt::format("{:.1f}%", 100.0 * measure.mean), measure.run_error, 100.0, 2);
}

std::vector<std::string> growing_library_remarks(const GrowingLibraryResult& set) {
  std::vector<std::string> remarks;
  const GrowingLibraryRow* best = nullptr;
  for (const GrowingLibraryRow& row : set.rows) {
    if (row.headline && (best == nullptr || row.ndcg.mean > best->ndcg.mean)) {
      best = &row;
    }
  }
  if (best != nullptr) {
    remarks.push_back(fmt::format(
        "{} has the best lists: NDCG {}, the pick at {} of the list; it sees {}.", best->ranker,
        format_share(best->ndcg), format_share(best->rel_distance), best->information));
  }
  const GrowingLibraryRow* random = find_row(set, "random", std::nullopt);
  const GrowingLibraryRow* paper_alpha = find_row(set, "noregret-klrank", 10.0);
  if (random != nullptr && paper_alpha != nullptr) {
    const double difference = paper_alpha->kl_cost.mean - random->kl_cost.mean;
    remarks.push_back(fmt::format(
        "With alpha = 10, the paper's choice, noregret-klrank costs {} than random here: {} "
        "against {}.",
        difference > 0.0 ? "more" : "less", format_cost(paper_alpha->kl_cost),
        format_cost(random->kl_cost)));
  }
  return remarks;
}

std::string growing_library_text(const GrowingLibraryFindings& findings) {
  std::string out =
      fmt::format("growing-library: seed {}, {} run{}{}\n", findings.seed, findings.runs,
                  findings.runs == 1 ? "" : "s", findings.quick ? ", quick (a smaller cut)" : "");
  for (const std::string& note : findings.notes) {
    out += note + '\n';
  }
  out += '\n';
  for (const GrowingLibraryResult& set : findings.sets) {
    out += set_text(set);
  }
  return out + adversary_text(findings);
}

}  // namespace hindsight
