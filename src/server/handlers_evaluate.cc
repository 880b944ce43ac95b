#include <utility>

#include "src/server/handlers.h"
#include "src/server/json_input.h"
#include "src/server/json_output.h"

namespace hindsight {

void handle_start_evaluation(ApiCall& call) {
  const Result<RankerChoice> choice = parse_evaluation(call.request.body);
  if (!choice.ok()) {
    call.reply->fail(choice.error());
    return;
  }
  const Result<EvaluationJob> job = call.api.engine.start_evaluation(call.collection, *choice);
  constexpr int kAccepted = 202;
  job.ok() ? call.reply->send_json(evaluation_json(*job), kAccepted)
           : call.reply->fail(job.error());
}

void handle_get_evaluation(ApiCall& call) {
  call.reply->send_result(call.api.engine.evaluation(call.collection), evaluation_json);
}

void handle_cancel_evaluation(ApiCall& call) {
  call.reply->send_result(call.api.engine.cancel_evaluation(call.collection), evaluation_json);
}

}  // namespace hindsight
