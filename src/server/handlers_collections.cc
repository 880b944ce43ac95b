#include <utility>

#include "src/server/access.h"
#include "src/server/handlers.h"
#include "src/server/json_input.h"
#include "src/server/json_output.h"

namespace hindsight {

void handle_list_collections(ApiCall& call) {
  std::vector<CollectionInfo> own;
  for (CollectionInfo& info : call.api.engine.collections()) {
    if (in_scope(*call.principal, info.name)) {
      own.push_back(std::move(info));
    }
  }
  call.reply->send_json(collections_json(own));
}

void handle_put_collection(ApiCall& call) {
  if (!is_collection_name(call.collection)) {
    call.reply->fail({ErrorCode::kInvalidArgument,
                      "a name has 1 to 64 characters, each of a-z, 0-9, _ and -", "collection"});
    return;
  }
  const Result<CollectionPatch> patch = parse_collection(call.request.body);
  if (!patch.ok()) {
    call.reply->fail(patch.error());
    return;
  }
  const auto done = [&engine = call.api.engine, name = call.collection,
                     reply = call.reply](const Result<PutOutcome>& outcome) {
    reply->guard([&] {
      if (!outcome.ok()) {
        reply->fail(outcome.error());
        return;
      }
      const Result<CollectionInfo> info = engine.collection(name);
      if (!info.ok()) {
        reply->fail({ErrorCode::kConflict,
                     "the collection was deleted by another call meanwhile; PUT it again",
                     "collection"});
        return;
      }
      reply->send_json(put_json(*info, *outcome), *outcome == PutOutcome::kCreated ? 201 : 200);
    });
  };
  call.api.engine.put_collection(call.collection, *patch, done);
}

void handle_get_collection(ApiCall& call) {
  call.reply->send_result(call.api.engine.collection(call.collection), collection_json);
}

void handle_delete_collection(ApiCall& call) {
  call.api.engine.delete_collection(
      call.collection, [reply = call.reply](const Result<void>& deleted) {
        deleted.ok() ? reply->send({.status = 204}) : reply->fail(deleted.error());
      });
}

void handle_erase_user(ApiCall& call) {
  if (const Result<void> checked = check_path_id(call.id, "user"); !checked.ok()) {
    call.reply->fail(checked.error());
    return;
  }
  call.api.engine.erase_user(call.collection, call.id,
                             [reply = call.reply](const Result<std::uint64_t>& events) {
                               if (!events.ok() && events.error().code == ErrorCode::kConflict) {
                                 reply->note_change();
                               }
                               reply->send_result(events, erased_json);
                             });
}

}  // namespace hindsight
