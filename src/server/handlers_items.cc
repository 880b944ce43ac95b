#include <array>
#include <utility>

#include "src/server/handlers.h"
#include "src/server/json_input.h"
#include "src/server/json_output.h"
#include "src/server/query_params.h"

namespace hindsight {
namespace {

constexpr std::size_t kDefaultPage = 100;
constexpr std::size_t kMaxPage = 1000;  // as Engine::items asks

struct PageWish {
  bool by_score = false;
  std::string cursor;
  std::size_t limit = kDefaultPage;
};

Result<PageWish> parse_page(std::string_view query) {
  constexpr std::array<std::string_view, 3> kKnown = {"cursor", "limit", "sort"};
  auto values = parse_query(query, kKnown);
  if (!values.ok()) {
    return values.error();
  }
  PageWish wish;
  if (std::optional<std::string>& cursor = (*values)[0]) {
    wish.cursor = *std::move(cursor);
    if (wish.cursor.size() > 4 * kMaxIdBytes) {
      return Error{ErrorCode::kInvalidArgument, "is not a cursor of this server", "cursor"};
    }
  }
  if (const std::optional<std::string>& limit = (*values)[1]) {
    const Result<std::size_t> number = whole_param(*limit, "limit", 1, kMaxPage);
    if (!number.ok()) {
      return number.error();
    }
    wish.limit = *number;
  }
  if (const std::optional<std::string>& sort = (*values)[2]) {
    if (*sort != "score" && *sort != "added") {
      return Error{ErrorCode::kInvalidArgument, "must be added or score", "sort"};
    }
    wish.by_score = *sort == "score";
    if (wish.by_score && (*values)[0]) {
      return Error{ErrorCode::kInvalidArgument, "the items with the highest scores are one page",
                   "cursor"};
    }
  }
  return wish;
}

Result<RankInput> parse_explain(std::string_view query) {
  constexpr std::array<std::string_view, 4> kKnown = {"topic", "session", "group", "context_key"};
  auto values = parse_query(query, kKnown);
  if (!values.ok()) {
    return values.error();
  }
  RankInput wish;
  const std::array<std::string*, 4> fields = {&wish.topic, &wish.session, &wish.group,
                                              &wish.context_key};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (std::optional<std::string>& value = (*values)[i]) {
      if (value->empty() || value->size() > kMaxIdBytes) {
        return Error{ErrorCode::kInvalidArgument, "must have 1 to 256 bytes",
                     std::string(kKnown[i])};
      }
      *fields[i] = *std::move(value);
    }
  }
  return wish;
}

}  // namespace

void handle_add_items(ApiCall& call) {
  Result<std::vector<ItemInput>> items = parse_items(call.request.body);
  if (!items.ok()) {
    call.reply->fail(items.error());
    return;
  }
  call.api.engine.add_items(call.collection, *std::move(items),
                            [reply = call.reply](const Result<ItemsReply>& added) {
                              reply->send_result(added, items_json);
                            });
}

void handle_list_items(ApiCall& call) {
  Result<PageWish> wish = parse_page(call.request.query);
  if (!wish.ok()) {
    call.reply->fail(wish.error());
    return;
  }
  answer_look(
      call,
      [wish = *std::move(wish)](const Engine& engine, const std::string& collection) {
        return wish.by_score ? engine.top_items(collection, wish.limit)
                             : engine.items(collection, wish.cursor, wish.limit);
      },
      item_page_json);
}

void handle_get_item(ApiCall& call) {
  if (const Result<void> checked = check_path_id(call.id, "id"); !checked.ok()) {
    call.reply->fail(checked.error());
    return;
  }
  call.reply->send_result(call.api.engine.item(call.collection, call.id), item_json);
}

void handle_explain_item(ApiCall& call) {
  if (const Result<void> checked = check_path_id(call.id, "id"); !checked.ok()) {
    call.reply->fail(checked.error());
    return;
  }
  Result<RankInput> wish = parse_explain(call.request.query);
  if (!wish.ok()) {
    call.reply->fail(wish.error());
    return;
  }
  answer_look(
      call,
      [id = call.id, wish = *std::move(wish)](const Engine& engine, const std::string& collection) {
        return engine.explain(collection, id, wish);
      },
      explanation_json);
}

void handle_delete_item(ApiCall& call) {
  if (const Result<void> checked = check_path_id(call.id, "id"); !checked.ok()) {
    call.reply->fail(checked.error());
    return;
  }
  call.api.engine.remove_item(
      call.collection, call.id, [reply = call.reply](const Result<void>& removed) {
        removed.ok() ? reply->send({.status = 204}) : reply->fail(removed.error());
      });
}

}  // namespace hindsight
