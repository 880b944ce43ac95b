#include <cmath>
#include <optional>
#include <string_view>

#include "src/sim/delage_table2.h"
#include "src/sim/findings_json.h"
#include "src/sim/growing_library_output.h"

namespace hindsight {
namespace {

using Json = FindingsJson;

void write_measure(Json& json, const std::string& name, const Measure& value) {
  json.key(name).number(value.mean);
  json.key(name + "_se").number(value.run_error);
  json.key(name + "_query_se").number(value.query_error);
}

void write_name(Json& json, const GrowingLibraryRow& row, std::string_view dataset) {
  json.key("dataset").text(dataset);
  json.key("ranker").text(row.ranker);
  json.key("alpha").number(row.alpha);
}

void write_row(Json& json, const GrowingLibraryRow& row, std::string_view dataset) {
  json.object([&] {
    write_name(json, row, dataset);
    json.key("information").text(row.information);
    json.key("headline").flag(row.headline);
    write_measure(json, "kl_cost", row.kl_cost);
    write_measure(json, "rel_distance", row.rel_distance);
    write_measure(json, "first_rate", row.first_rate);
    write_measure(json, "ndcg", row.ndcg);
    std::optional<RegretBracket> last;
    if (!row.regret.empty()) {
      last = row.regret.back();
    }
    const auto of_last = [&](double RegretBracket::*member) {
      return last ? std::optional<double>((*last).*member) : std::nullopt;
    };
    json.key("cost").number(of_last(&RegretBracket::cost));
    json.key("served_cost").number(of_last(&RegretBracket::served_cost));
    json.key("regret").number(of_last(&RegretBracket::upper));
    json.key("regret_low").number(of_last(&RegretBracket::lower));
    json.key("bound").number(of_last(&RegretBracket::theorem_bound));
    json.key("data_bound").number(of_last(&RegretBracket::data_bound));
  });
}

void write_set(Json& json, const GrowingLibraryResult& set) {
  json.object([&] {
    json.key("dataset").text(set.dataset);
    json.key("papers").count(set.papers);
    json.key("topics").count(set.topics);
    json.key("queries").count(set.queries);
    json.key("mean_candidates").number(set.mean_candidates);
    json.key("mean_inverse_candidates").number(set.mean_inverse_candidates);
    json.key("citations_of_papers_not_yet_there").count(set.not_yet_there);
    json.key("papers_without_year_or_topic").count(set.counts.without_year_or_topic);
    json.key("repeated_papers").count(set.counts.repeated_papers);
    json.key("self_citations").count(set.counts.self_citations);
    json.key("citations_with_unknown_end").count(set.counts.unknown_ends);
    json.key("repeated_citations").count(set.counts.repeated_citations);
  });
}

void write_curve(Json& json, const GrowingLibraryRow& row, std::string_view dataset) {
  json.object([&] {
    write_name(json, row, dataset);
    json.key("t").array(row.curve, [&](const JudgedPoint& point) { json.count(point.t); });
    const auto column = [&](std::string_view name, double JudgedPoint::*member) {
      json.key(name).array(row.curve,
                           [&](const JudgedPoint& point) { json.number(point.*member); });
    };
    column("kl_cost", &JudgedPoint::kl_cost);
    column("rel_distance", &JudgedPoint::rel_distance);
    column("ndcg", &JudgedPoint::ndcg);
  });
}

void write_regret_curve(Json& json, const GrowingLibraryRow& row, std::string_view dataset) {
  json.object([&] {
    write_name(json, row, dataset);
    json.key("points").array(row.regret, [&](const RegretBracket& bracket) {
      json.object([&] {
        json.key("t").count(bracket.clicks);
        json.key("cost").number(bracket.cost);
        json.key("served_cost").number(bracket.served_cost);
        json.key("hindsight_cost").number(bracket.hindsight_cost);
        json.key("regret_low").number(bracket.lower);
        json.key("regret").number(bracket.upper);
        json.key("certificate").number(bracket.certificate);
        json.key("data_bound").number(bracket.data_bound);
        json.key("bound").number(bracket.theorem_bound);
      });
    });
  });
}

void write_paper(Json& json) {
  json.array(growing_library_plan(), [&](const RankerPlan& plan) {
    if (const DelageTable2Row* row = find_delage_table2(plan.name)) {
      json.object([&] {
        json.key("ranker").text(plan.name);
        json.key("paper_name").text(row->name);
        json.key("kl_cost").number(row->kl_cost);
        json.key("rel_distance").number(row->rel_distance);
        json.key("first_rate").number(row->first_rate);
        json.key("ndcg").number(row->ndcg);
      });
    }
  });
}

/// Calls `write` with every row of every data set that `wanted` accepts.
template <class Wanted, class Write>
void write_rows(Json& json, const GrowingLibraryFindings& findings, Wanted wanted, Write write) {
  json.array(findings.sets, [&](const GrowingLibraryResult& set) {
    for (const GrowingLibraryRow& row : set.rows) {
      if (wanted(row)) {
        write(json, row, set.dataset);
      }
    }
  });
}

}  // namespace

std::string growing_library_json(const GrowingLibraryFindings& findings) {
  Json json;
  json.object([&] {
    json.key("experiment").text("growing-library");
    json.key("seed").count(findings.seed);
    json.key("runs").count(findings.runs);
    json.key("quick").flag(findings.quick);
    json.key("notes").array(findings.notes, [&](const std::string& note) { json.text(note); });
    json.key("datasets").array(findings.sets, [&](const auto& set) { write_set(json, set); });
    json.key("rows");
    write_rows(
        json, findings, [](const auto&) { return true; }, write_row);
    json.key("curves");
    write_rows(
        json, findings, [](const auto& row) { return row.headline; }, write_curve);
    json.key("regret_curves");
    write_rows(
        json, findings, [](const auto& row) { return row.headline && !row.regret.empty(); },
        write_regret_curve);
    json.key("adversarial").object([&] {
      json.key("items").count(findings.adversary_params.items);
      json.key("queries").count(findings.adversary_params.queries);
      json.key("rows").array(findings.adversary,
                             [&](const auto& row) { write_row(json, row, "adversary"); });
      json.key("curves").array(findings.adversary,
                               [&](const auto& row) { write_curve(json, row, "adversary"); });
    });
    json.key("paper_table_2");
    write_paper(json);
  });
  return json.str() + '\n';
}

}  // namespace hindsight
