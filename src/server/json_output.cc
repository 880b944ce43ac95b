#include "src/server/json_output.h"

#include <variant>

#include "src/server/json_input.h"
#include "src/server/json_parts.h"
#include "src/server/json_writer.h"

namespace hindsight {
namespace {

template <class Body>
std::string json_of(Body body) {
  JsonWriter json;
  body(json);
  return json.take();
}

void write_param_value(JsonWriter& json, const ParamValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    json.number(*number);
  } else if (const auto* on = std::get_if<bool>(&value)) {
    json.flag(*on);
  } else {
    json.text(std::get<std::string>(value));
  }
}

void write_collection_fields(JsonWriter& json, const CollectionInfo& info) {
  const CollectionConfig& config = info.config;
  json.key("name").text(info.name);
  json.key("ranker").text(config.ranker);
  json.key("params");
  write_params(json, config.params);
  json.key("seed").whole(config.seed);
  json.key("window_seconds").number(static_cast<double>(config.window_ms) / 1000.0);
  json.key("on_unknown").text(on_unknown_name(config.on_unknown));
  json.key("control").number(config.control);
  json.key("log_queries").flag(config.log_queries);
  json.key("log_candidates").flag(config.log_candidates);
  json.key("decisions_before_reply").flag(config.decisions_before_reply);
  json.key("max_open").whole(config.max_open);
  json.key("max_scan").whole(config.max_scan);
  json.key("memory_budget").whole(config.memory_budget);
  json.key("retain_days").whole(config.retain_days);
  json.key("era").whole(info.era);
  json.key("building").flag(info.building);
  if (info.build_error) {
    json.key("build_error").text(public_message(*info.build_error));
  }
  json.key("items").whole(info.items);
}

std::string_view outcome_name(PutOutcome outcome) {
  switch (outcome) {
    case PutOutcome::kCreated:
      return "created";
    case PutOutcome::kChanged:
      return "changed";
    case PutOutcome::kUnchanged:
      break;
  }
  return "unchanged";
}

void write_item(JsonWriter& json, const ItemView& item) {
  json.object([&] {
    json.key("id").text(item.id);
    json.key("topics").texts(item.topics);
    json.key("features").object([&] {
      for (const auto& [name, value] : item.features) {
        json.key(name).number(value);
      }
    });
    json.key("links").texts(item.links);
    json.key("score").number(item.score);
    json.key("picks").whole(item.picks);
    json.key("decayed_picks").array(item.decayed_picks, [&](double value) { json.number(value); });
    json.key("added_ms").whole_signed(item.added_ms);
    json.key("age_ms").whole_signed(item.age_ms);
  });
}

void write_ranked(JsonWriter& json, const std::vector<RankedItem>& items) {
  json.array(items, [&](const RankedItem& item) {
    json.object([&] {
      json.key("id").text(item.id);
      json.key("score").number(item.score);
      json.key("prob_first").number(item.prob_first);
      if (item.unknown) {
        json.key("unknown").flag(true);
      }
    });
  });
}

void write_decision(JsonWriter& json, const DecisionView& decision) {
  json.object([&] {
    json.key("decision").text(decision.decision);
    json.key("time_ms").whole_signed(decision.time_ms);
    json.key("ranker").text(decision.ranker);
    json.key("model_version").whole(decision.model_version);
    if (!decision.query.empty()) {
      json.key("query").text(decision.query);
    }
    json.key("items");
    write_ranked(json, decision.items);
    json.key("log_propensity").number(decision.log_propensity);
    json.key("control").flag(decision.control);
    json.key("open").flag(decision.open);
    json.key("clicked").texts(decision.clicked);
  });
}

}  // namespace

void write_params(JsonWriter& json, const ParamMap& params) {
  json.object([&] {
    for (const auto& [name, value] : params) {
      json.key(name);
      write_param_value(json, value);
    }
  });
}

bool names_files(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kCorrupt;
}

std::string_view public_message(const Error& error) {
  return names_files(error) ? "the server cannot read or write its data; its log says why"
                            : std::string_view(error.message);
}

std::string error_json(const Error& error) {
  return error_json(error_info(error.code).name, public_message(error),
                    names_files(error) ? "" : error.field);
}

std::string error_json(std::string_view code, std::string_view message, std::string_view field) {
  return json_of([&](JsonWriter& json) {
    json.object([&] {
      json.key("error").object([&] {
        json.key("code").text(code);
        json.key("message").text(message);
        if (!field.empty()) {
          json.key("field").text(field);
        }
      });
    });
  });
}

std::string collections_json(const std::vector<CollectionInfo>& collections) {
  return json_of([&](JsonWriter& json) {
    json.object([&] {
      json.key("collections").array(collections, [&](const CollectionInfo& info) {
        json.object([&] { write_collection_fields(json, info); });
      });
    });
  });
}

std::string collection_json(const CollectionInfo& info) {
  return json_of(
      [&](JsonWriter& json) { json.object([&] { write_collection_fields(json, info); }); });
}

std::string put_json(const CollectionInfo& info, PutOutcome outcome) {
  return json_of([&](JsonWriter& json) {
    json.object([&] {
      json.key("outcome").text(outcome_name(outcome));
      write_collection_fields(json, info);
    });
  });
}

std::string items_json(const ItemsReply& reply) {
  return json_of([&](JsonWriter& json) {
    json.object([&] {
      json.key("added").whole(reply.added);
      json.key("updated").whole(reply.updated);
    });
  });
}

std::string explanation_json(const Explanation& explanation) {
  return json_of([&](JsonWriter& json) {
    json.object([&] {
      json.key("score").number(explanation.score);
      json.key("prob_first").number(explanation.prob_first);
      json.key("parts").array(explanation.parts, [&](const Explanation::Part& part) {
        json.object([&] {
          json.key("name").text(part.name);
          json.key("value").number(part.value);
          json.key("weight").number(part.weight);
          json.key("contribution").number(part.contribution);
        });
      });
      json.key("experts").array(explanation.experts, [&](const Explanation::Expert& expert) {
        json.object([&] {
          json.key("name").text(expert.name);
          json.key("weight").number(expert.weight);
          json.key("prob_first").number(expert.prob_first);
          json.key("cost").number(expert.cost);
        });
      });
    });
  });
}

std::string item_json(const ItemView& item) {
  return json_of([&](JsonWriter& json) { write_item(json, item); });
}

std::string item_page_json(const ItemPage& page) {
  return json_of([&](JsonWriter& json) {
    json.object([&] {
      json.key("items").array(page.items, [&](const ItemView& item) { write_item(json, item); });
      if (!page.next_cursor.empty()) {
        json.key("next_cursor").text(page.next_cursor);
      }
    });
  });
}

std::string rank_json(const RankReply& reply) {
  return json_of([&](JsonWriter& json) {
    json.object([&] {
      json.key("decision").text(reply.decision);
      json.key("items");
      write_ranked(json, reply.items);
      json.key("log_propensity").number(reply.log_propensity);
      json.key("model_version").whole(reply.model_version);
      json.key("control").flag(reply.control);
      json.key("candidates").whole(reply.candidates);
    });
  });
}

std::string clicks_json(const ClicksReply& reply) {
  return json_of([&](JsonWriter& json) {
    json.object([&] {
      json.key("accepted").whole(reply.accepted);
      json.key("duplicate").whole(reply.duplicate);
      json.key("late").whole(reply.late);
      json.key("unjoined").whole(reply.unjoined);
      json.key("quarantined").whole(reply.quarantined);
    });
  });
}

std::string decision_json(const DecisionView& decision) {
  return json_of([&](JsonWriter& json) { write_decision(json, decision); });
}

std::string decisions_json(const std::vector<DecisionView>& decisions) {
  return json_of([&](JsonWriter& json) {
    json.object([&] {
      json.key("decisions").array(decisions, [&](const DecisionView& decision) {
        write_decision(json, decision);
      });
    });
  });
}

std::string erased_json(std::uint64_t events) {
  return json_of([&](JsonWriter& json) { json.object([&] { json.key("events").whole(events); }); });
}

}  // namespace hindsight
