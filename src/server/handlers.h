// One function per route: reads the request, asks the engine, writes the answer.
//
// A handler is called after the key was checked. It answers once through call.reply, perhaps later
// and from another thread; once it has answered, the request's views are gone. What takes the
// engine long is asked for by answer_look, for a thread of the server has other connections, too.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "src/engine/engine.h"
#include "src/server/http.h"
#include "src/server/principal.h"
#include "src/server/reply.h"
#include "src/server/routes.h"

namespace hindsight {

/// What handlers share.
struct ApiContext {
  Engine& engine;
  const KeyLookup& keys;
  ApiMetrics& metrics;
  std::string version;
};

struct ApiCall {
  ApiContext& api;
  const HttpRequest& request;
  const Route& route;
  std::string collection;                      // from the path, decoded; empty for none
  std::string id;                              // of an item, a decision or a user
  std::shared_ptr<const Principal> principal;  // null on public routes
  std::shared_ptr<Reply> reply;
};

/// Answers with format(ask(engine, collection)), which the engine calls when it has time.
template <class Ask, class Format>
void answer_look(const ApiCall& call, Ask ask, Format format) {
  call.api.engine.look(call.collection, [&engine = std::as_const(call.api.engine),
                                         name = call.collection, reply = call.reply,
                                         ask = std::move(ask), format](const Result<void>& turn) {
    reply->guard([&] {
      turn.ok() ? reply->send_result(ask(engine, name), format) : reply->fail(turn.error());
    });
  });
}

// handlers_console.cc
void handle_front_page(ApiCall& call);
void handle_console_file(ApiCall& call);

// handlers_system.cc
void handle_health(ApiCall& call);
void handle_ready(ApiCall& call);
void handle_openapi(ApiCall& call);
void handle_metrics(ApiCall& call);
void handle_rankers(ApiCall& call);

// handlers_collections.cc
void handle_list_collections(ApiCall& call);
void handle_put_collection(ApiCall& call);
void handle_get_collection(ApiCall& call);
void handle_delete_collection(ApiCall& call);
void handle_erase_user(ApiCall& call);

// handlers_items.cc
void handle_add_items(ApiCall& call);
void handle_list_items(ApiCall& call);
void handle_get_item(ApiCall& call);
void handle_explain_item(ApiCall& call);
void handle_delete_item(ApiCall& call);

// handlers_events.cc
void handle_rank(ApiCall& call);
void handle_clicks(ApiCall& call);
void handle_stats(ApiCall& call);
void handle_history(ApiCall& call);
void handle_stream(ApiCall& call);
void handle_list_decisions(ApiCall& call);
void handle_get_decision(ApiCall& call);

// handlers_evaluate.cc
void handle_start_evaluation(ApiCall& call);
void handle_get_evaluation(ApiCall& call);
void handle_cancel_evaluation(ApiCall& call);

}  // namespace hindsight
