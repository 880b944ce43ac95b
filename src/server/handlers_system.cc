#include <string>
#include <utility>

#include "fmt/format.h"
#include "src/server/assets.h"
#include "src/server/handlers.h"
#include "src/server/json_output.h"
#include "src/server/metrics.h"

namespace hindsight {
void handle_health(ApiCall& call) { call.reply->send_json(R"({"status":"alive"})"); }

void handle_ready(ApiCall& call) {
  const std::optional<Error> failure = call.api.engine.failure();
  if (!failure) {
    call.reply->send_json(R"({"status":"ready"})");
    return;
  }
  // Whoever may ask without a key is told no paths and no names.
  call.reply->send_json(
      fmt::format(
          R"({{"status":"failed","code":"{}","message":"nothing more is acknowledged until )"
          R"(the cause is mended and the server started again; its log names the file"}})",
          error_info(failure->code).name),
      503);
}

void handle_openapi(ApiCall& call) {
  call.reply->send({.content_type = "application/yaml", .body = std::string(openapi_text())});
}

void handle_metrics(ApiCall& call) {
  call.reply->send({.content_type = std::string(ApiMetrics::kContentType),
                    .body = call.api.metrics.text(call.api.engine, *call.principal)});
}

void handle_rankers(ApiCall& call) { call.reply->send_json(rankers_json(ranker_registry())); }

}  // namespace hindsight
