// The larger answers of json_output.h: stats and the registry of rankers.

#include <cmath>
#include <limits>
#include <variant>

#include "src/server/json_costs.h"
#include "src/server/json_output.h"
#include "src/server/json_writer.h"

namespace hindsight {
namespace {

void write_clicks(JsonWriter& json, const ClickCounts& clicks) {
  json.object([&] {
    json.key("received").whole(clicks.received);
    json.key("pending").whole(clicks.pending);
    json.key("learned").whole(clicks.learned);
    json.key("duplicate").whole(clicks.duplicate);
    json.key("late").whole(clicks.late);
    json.key("unjoined").whole(clicks.unjoined);
    json.key("quarantined").whole(clicks.quarantined);
  });
}

bool bounded(double limit) { return std::abs(limit) < std::numeric_limits<double>::max(); }

void write_bound(JsonWriter& json, double limit) {
  json.number(bounded(limit) ? std::optional(limit) : std::nullopt);
}

std::string_view type_name(const ParamSpec& spec) {
  if (std::holds_alternative<double>(spec.default_value)) {
    return spec.whole_number ? "integer" : "number";
  }
  return std::holds_alternative<bool>(spec.default_value) ? "switch" : "word";
}

void write_param(JsonWriter& json, const ParamSpec& spec) {
  json.object([&] {
    json.key("name").text(spec.name);
    json.key("type").text(type_name(spec));
    json.key("default");
    if (const auto* number = std::get_if<double>(&spec.default_value)) {
      json.number(*number);
      json.key("minimum");
      write_bound(json, spec.minimum);
      json.key("minimum_excluded").flag(spec.minimum_excluded);
      json.key("maximum");
      write_bound(json, spec.maximum);
    } else if (const auto* on = std::get_if<bool>(&spec.default_value)) {
      json.flag(*on);
    } else {
      json.text(std::get<std::string>(spec.default_value));
      json.key("words").texts(spec.words);
    }
    json.key("help").text(spec.help);
  });
}

std::string_view law_name(ListLaw law) {
  switch (law) {
    case ListLaw::kWholeList:
      return "whole_list";
    case ListLaw::kFirstSlot:
      return "first_slot";
    case ListLaw::kNotStated:
      return "not_stated";
    case ListLaw::kDeterministic:
      break;
  }
  return "deterministic";
}

void write_ranker(JsonWriter& json, const RankerInfo& info) {
  json.object([&] {
    json.key("name").text(info.name);
    json.key("summary").text(info.summary);
    json.key("paper").text(info.paper);
    json.key("guarantee").text(info.guarantee);
    json.key("assumptions").text(info.assumptions);
    json.key("learns").text(info.learns == Learns::kImmediate ? "immediate" : "on_close");
    json.key("law").text(law_name(info.law));
    json.key("sublinear").flag(info.sublinear);
    json.key("params").array(info.params, [&](const ParamSpec& spec) { write_param(json, spec); });
  });
}

}  // namespace

std::string stats_json(const CollectionStats& stats, const StatsFormat& format) {
  JsonWriter json;
  json.object([&] {
    json.key("clicks");
    write_clicks(json, stats.clicks);
    json.key("decisions").whole(stats.decisions);
    json.key("open_decisions").whole(stats.open_decisions);
    json.key("closed_early").whole(stats.closed_early);
    json.key("items").whole(stats.items);
    json.key("era").whole(stats.era);
    json.key("building").flag(stats.building);
    if (stats.build_error) {
      json.key("build_error").text(public_message(*stats.build_error));
    }
    json.key("kl_cost");
    write_kl_cost(json, stats);
    write_rates(json, stats.ranker_arm);
    json.key("rated_clicks").whole(stats.ranker_arm.clicks);
    if (format.arms) {
      json.key("arms").object([&] {
        json.key("ranker");
        write_arm(json, stats.drawn_ranker_arm);
        json.key("control");
        write_arm(json, stats.drawn_control_arm);
      });
    }
    json.key("quarantine_reasons").object([&] {
      for (const auto& [reason, count] : stats.quarantine_reasons) {
        json.key(reason).whole(count);
      }
    });
    if (!stats.model_hash.empty()) {
      json.key("model_hash").text(stats.model_hash);
    }
    json.key("position").whole(stats.position);
    json.key("head").whole(stats.head);
    json.key("snapshot_position").whole(stats.snapshot_position);
    json.key("memory_bytes").whole(stats.memory_bytes);
    json.key("model").object([&] {
      for (const auto& [name, value] : stats.model) {
        json.key(name).text(value);
      }
    });
  });
  return json.take();
}

std::string rankers_json(std::span<const RankerInfo> rankers) {
  JsonWriter json;
  json.object([&] {
    json.key("rankers").array(rankers, [&](const RankerInfo& info) { write_ranker(json, info); });
  });
  return json.take();
}

}  // namespace hindsight
