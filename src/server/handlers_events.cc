#include <array>
#include <limits>
#include <utility>

#include "src/core/check.h"
#include "src/server/access.h"
#include "src/server/handlers.h"
#include "src/server/json_input.h"
#include "src/server/json_output.h"
#include "src/server/query_params.h"
#include "src/server/stats_stream.h"

namespace hindsight {
namespace {

/// "?hash=false" leaves out what costs a pass over the model.
Result<bool> wants_hash(std::string_view query) {
  constexpr std::array<std::string_view, 1> kKnown = {"hash"};
  const auto values = parse_query(query, kKnown);
  if (!values.ok()) {
    return values.error();
  }
  const std::string hash = (*values)[0].value_or("true");
  if (hash != "true" && hash != "false") {
    return Error{ErrorCode::kInvalidArgument, "must be true or false", "hash"};
  }
  return hash == "true";
}

/// "?points=100": how many moments of the past.
Result<std::size_t> wanted_points(std::string_view query) {
  constexpr std::size_t kDefaultPoints = 500;
  constexpr std::size_t kMaxPoints = 2000;
  constexpr std::array<std::string_view, 1> kKnown = {"points"};
  const auto values = parse_query(query, kKnown);
  if (!values.ok()) {
    return values.error();
  }
  const std::optional<std::string>& points = (*values)[0];
  return points ? whole_param(*points, "points", 1, kMaxPoints)
                : Result<std::size_t>(kDefaultPoints);
}

struct DecisionsWish {
  Position before = std::numeric_limits<Position>::max();
  std::size_t limit = 10;
};

Result<DecisionsWish> parse_decisions(std::string_view query) {
  constexpr std::array<std::string_view, 2> kKnown = {"before", "limit"};
  constexpr std::size_t kMaxLists = 50;
  HINDSIGHT_ASSIGN_OR_RETURN(const auto values, parse_query(query, kKnown));
  DecisionsWish wish;
  if (const std::optional<std::string>& before = values[0]) {
    HINDSIGHT_ASSIGN_OR_RETURN(
        wish.before, whole_param(*before, "before", 1, std::numeric_limits<std::int64_t>::max()));
  }
  if (const std::optional<std::string>& limit = values[1]) {
    HINDSIGHT_ASSIGN_OR_RETURN(wish.limit, whole_param(*limit, "limit", 1, kMaxLists));
  }
  return wish;
}

}  // namespace

void handle_rank(ApiCall& call) {
  Result<RankInput> input = parse_rank(call.request.body);
  if (!input.ok()) {
    call.reply->fail(input.error());
    return;
  }
  call.api.engine.rank(call.collection, *std::move(input),
                       [reply = call.reply](const Result<RankReply>& ranked) {
                         reply->send_result(ranked, rank_json);
                       });
}

void handle_clicks(ApiCall& call) {
  Result<std::vector<ClickInput>> clicks = parse_clicks(call.request.body);
  if (!clicks.ok()) {
    call.reply->fail(clicks.error());
    return;
  }
  call.api.engine.click(call.collection, *std::move(clicks),
                        [reply = call.reply](const Result<ClicksReply>& counted) {
                          reply->send_result(counted, clicks_json);
                        });
}

void handle_stats(ApiCall& call) {
  const Result<bool> hash = wants_hash(call.request.query);
  if (!hash.ok()) {
    call.reply->fail(hash.error());
    return;
  }
  const auto as_it_is = [](std::string stats) { return stats; };
  if (!*hash) {
    call.reply->send_result(current_stats(call.api.engine, call.collection, false), as_it_is);
    return;
  }
  answer_look(
      call,
      [](const Engine& engine, const std::string& collection) {
        return current_stats(engine, collection, true);
      },
      as_it_is);
}

void handle_history(ApiCall& call) {
  const Result<std::size_t> points = wanted_points(call.request.query);
  if (!points.ok()) {
    call.reply->fail(points.error());
    return;
  }
  answer_look(
      call,
      [points = *points](const Engine& engine, const std::string& collection) {
        return engine.history(collection, points);
      },
      history_json);
}

void handle_stream(ApiCall& call) {
  const Result<CollectionInfo> info = call.api.engine.collection(call.collection);
  if (!info.ok()) {
    call.reply->fail(info.error());
    return;
  }
  // The key is looked up again and again: whoever loses it must not go on listening.
  const auto allowed = [&keys = call.api.keys, &route = call.route, name = call.collection,
                        origin = std::string(call.request.origin),
                        key = std::string(*bearer_key(call.request.authorization))] {
    const std::shared_ptr<const Principal> principal = keys.find(key);
    return principal != nullptr && authorize(*principal, route, name, origin).ok();
  };
  HttpResponse response = {.content_type = "text/event-stream"};
  response.headers.emplace_back("Cache-Control", "no-store");
  response.stream = make_stats_stream(
      {.engine = call.api.engine, .collection = call.collection, .allowed = allowed});
  call.reply->send(std::move(response));
}

void handle_list_decisions(ApiCall& call) {
  const Result<DecisionsWish> wish = parse_decisions(call.request.query);
  if (!wish.ok()) {
    call.reply->fail(wish.error());
    return;
  }
  answer_look(
      call,
      [wish = *wish](const Engine& engine, const std::string& collection) {
        return engine.decisions(collection, wish.before, wish.limit);
      },
      decisions_json);
}

void handle_get_decision(ApiCall& call) {
  if (const Result<void> checked = check_path_id(call.id, "decision"); !checked.ok()) {
    call.reply->fail(checked.error());
    return;
  }
  answer_look(
      call,
      [id = call.id](const Engine& engine, const std::string& collection) {
        return engine.decision(collection, id);
      },
      decision_json);
}

}  // namespace hindsight
