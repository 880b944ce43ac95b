#include "src/server/json_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "src/core/intervals.h"
#include "src/server/json_output.h"

namespace hindsight {
namespace {

/// None of nothing.
std::optional<double> share(double part, std::uint64_t whole) {
  return whole == 0 ? std::nullopt : std::optional(part / static_cast<double>(whole));
}

std::optional<double> click_rate(const ArmStats& arm) {
  return share(static_cast<double>(arm.clicked), arm.decisions);
}

std::optional<double> first_rate(const ArmStats& arm) {
  return share(static_cast<double>(arm.first_clicks), arm.clicks);
}

std::optional<double> ndcg(const ArmStats& arm) { return share(arm.ndcg_sum, arm.clicks); }

/// [low, high]; a mean of shares does not leave [0, 1].
void write_interval(JsonWriter& json, const std::optional<Interval>& interval) {
  if (!interval) {
    json.null();
    return;
  }
  json.array(std::array{interval->low, interval->high},
             [&](double end) { json.number(std::clamp(end, 0.0, 1.0)); });
}

std::string_view refresh_name(HindsightRefresh refresh) {
  switch (refresh) {
    case HindsightRefresh::kOn:
      return "on";
    case HindsightRefresh::kOff:
      return "off";
    case HindsightRefresh::kDropped:
      return "dropped";
    case HindsightRefresh::kUnsupported:
      break;
  }
  return "unsupported";
}

std::optional<double> hindsight_cost(const CurvePoint* point) {
  return point == nullptr || !point->hindsight ? std::nullopt
                                               : std::optional(point->hindsight->cost);
}

/// What is written of a comparison in stats and in history alike.
void write_comparison(JsonWriter& json, const CurvePoint* point) {
  const Hindsight* hindsight = point == nullptr || !point->hindsight ? nullptr : &*point->hindsight;
  json.key("hindsight").number(hindsight_cost(point));
  json.key("regret").number(point == nullptr ? std::nullopt : point->regret());
  json.key("regret_upper")
      .number(hindsight == nullptr ? std::nullopt : std::optional(hindsight->regret_upper));
}

void write_bounds(JsonWriter& json, const RegretSummary& cost) {
  json.key("bound").number(cost.theorem_bound);
  json.key("data_bound").number(cost.data_bound);
}

void write_paid(JsonWriter& json, const RegretSummary& cost) {
  json.key("clicks").whole(cost.clicks);
  json.key("served").number(cost.served_cost);
  json.key("learned").number(cost.learned_cost);
}

void write_sampling(JsonWriter& json, const CurvePoint& point) {
  json.key("sampled").flag(point.hindsight->sample < point.cost->clicks);
  json.key("sample").whole(point.hindsight->sample);
  json.key("error").number(point.hindsight->error);
}

void write_measured(JsonWriter& json, const CurvePoint* point) {
  if (point == nullptr) {
    json.null();
    return;
  }
  json.object([&] {
    write_paid(json, *point->cost);
    write_bounds(json, *point->cost);
    write_sampling(json, *point);
    json.key("time_ms").whole_signed(point->time_ms);
    json.key("position").whole(point->position);
  });
}

void write_counts(JsonWriter& json, const ArmStats& arm) {
  json.object([&] {
    json.key("decisions").whole(arm.decisions);
    json.key("clicked").whole(arm.clicked);
    json.key("clicks").whole(arm.clicks);
    json.key("first_clicks").whole(arm.first_clicks);
    json.key("ndcg_sum").number(arm.ndcg_sum);
  });
}

/// Null where it is not known.
void write_choice_set(JsonWriter& json, const std::string& choice_set) {
  choice_set.empty() ? json.null() : json.text(choice_set);
}

void write_point(JsonWriter& json, const CurvePoint& point) {
  json.object([&] {
    json.key("era").whole(point.era);
    json.key("time_ms").whole_signed(point.time_ms);
    json.key("position").whole(point.position);
    json.key("kl_cost");
    if (point.cost) {
      json.object([&] {
        json.key("choice_set");
        write_choice_set(json, point.choice_set);
        write_paid(json, *point.cost);
        write_comparison(json, &point);
        write_bounds(json, *point.cost);
        if (point.hindsight) {
          write_sampling(json, point);
        }
      });
    } else {
      json.null();
    }
    json.key("ranker");
    write_counts(json, point.ranker_arm);
    json.key("control");
    write_counts(json, point.control_arm);
    if (!point.expert_weights.empty()) {
      // Six places tell all that there is to see.
      json.key("expert_weights").array(point.expert_weights, [&](float weight) {
        json.number(std::round(static_cast<double>(weight) * 1e6) / 1e6);
      });
    }
  });
}

}  // namespace

void write_kl_cost(JsonWriter& json, const CollectionStats& stats) {
  if (!stats.regret) {
    json.null();  // this ranker has no bound to hold a cost against
    return;
  }
  const CurvePoint* measured = stats.measured ? &*stats.measured : nullptr;
  json.object([&] {
    json.key("choice_set").text(stats.choice_set);
    json.key("click_rate").number(click_rate(stats.era_arm));
    write_paid(json, *stats.regret);
    write_comparison(json, measured);
    write_bounds(json, *stats.regret);
    json.key("refresh").text(refresh_name(stats.refresh));
    json.key("measured");
    write_measured(json, measured);
  });
}

void write_rates(JsonWriter& json, const ArmStats& arm) {
  json.key("click_rate").number(click_rate(arm));
  json.key("first_rate").number(first_rate(arm));
  json.key("ndcg").number(ndcg(arm));
}

void write_arm(JsonWriter& json, const ArmStats& arm) {
  json.object([&] {
    json.key("decisions").whole(arm.decisions);
    json.key("clicked").whole(arm.clicked);
    json.key("clicks").whole(arm.clicks);
    json.key("click_rate").number(click_rate(arm));
    json.key("click_rate_95");
    write_interval(json, wilson_interval(arm.clicked, arm.decisions));
    json.key("first_rate").number(first_rate(arm));
    json.key("first_rate_95");
    write_interval(json, wilson_interval(arm.first_clicks, arm.clicks));
    json.key("ndcg").number(ndcg(arm));
    json.key("ndcg_95");
    write_interval(json, mean_interval(arm.clicks, arm.ndcg_sum, arm.ndcg_squares));
  });
}

std::string history_json(const std::vector<CurvePoint>& points) {
  JsonWriter json;
  json.object([&] {
    json.key("points").array(points, [&](const CurvePoint& point) { write_point(json, point); });
  });
  return json.take();
}

}  // namespace hindsight
