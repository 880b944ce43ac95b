// The answer of an evaluation, which `hindsight replay --json` writes too.

#include <string_view>

#include "src/server/json_output.h"
#include "src/server/json_parts.h"
#include "src/server/json_writer.h"

namespace hindsight {
namespace {

std::string_view state_name(EvaluationJob::State state) {
  switch (state) {
    case EvaluationJob::State::kRunning:
      return "running";
    case EvaluationJob::State::kDone:
      return "done";
    case EvaluationJob::State::kCancelled:
      return "cancelled";
    case EvaluationJob::State::kFailed:
      break;
  }
  return "failed";
}

std::string_view support_name(Support support) {
  switch (support) {
    case Support::kEnough:
      return "ok";
    case Support::kWeak:
      return "weak_support";
    case Support::kNone:
      break;
  }
  return "no_support";
}

void write_estimate(JsonWriter& json, const std::optional<Estimate>& estimate) {
  if (!estimate) {
    json.null();
    return;
  }
  json.object([&] {
    json.key("value").number(estimate->value);
    json.key("standard_error").number(estimate->standard_error);
    const bool known = estimate->standard_error.has_value();
    json.key("low").number(known ? std::optional(estimate->low) : std::nullopt);
    json.key("high").number(known ? std::optional(estimate->high) : std::nullopt);
  });
}

void write_policy(JsonWriter& json, const PolicyEstimate& policy) {
  json.object([&] {
    json.key("status").text(support_name(policy.support));
    if (!policy.reason.empty()) {
      json.key("reason").text(policy.reason);
    }
    json.key("decisions").whole(policy.decisions);
    json.key("left_out").object([&] {
      for (const auto& [reason, count] : policy.left_out) {
        json.key(reason).whole(count);
      }
    });
    json.key("rewarded").whole(policy.rewarded);
    json.key("logged");
    write_estimate(json, policy.logged);
    json.key("ips");
    write_estimate(json, policy.inverse_propensity);
    json.key("snips");
    write_estimate(json, policy.self_normalised);
    json.key("effective_sample_size").number(policy.effective_sample_size);
    json.key("mean_weight").number(policy.mean_weight);
    json.key("max_weight").number(policy.max_weight);
  });
}

void write_regret(JsonWriter& json, const std::optional<RegretSummary>& regret) {
  if (!regret) {
    json.null();
    return;
  }
  json.object([&] {
    json.key("clicks").whole(regret->clicks);
    json.key("learned").number(regret->learned_cost);
    json.key("bound").number(regret->theorem_bound);
    json.key("data_bound").number(regret->data_bound);
  });
}

void write_evaluation(JsonWriter& json, const Evaluation& evaluation) {
  json.object([&] {
    json.key("from").whole(evaluation.from);
    json.key("through").whole(evaluation.through);
    json.key("decisions").whole(evaluation.decisions);
    json.key("open_decisions").whole(evaluation.open_decisions);
    json.key("clicks").whole(evaluation.clicks);
    const ReplayCost& cost = evaluation.replay_cost;
    json.key("replay_cost").object([&] {
      json.key("clicks").whole(cost.clicks);
      json.key("total").number(cost.total);
      json.key("mean").number(cost.mean);
      json.key("impossible").whole(cost.impossible);
      json.key("unpriced").whole(cost.unpriced);
    });
    json.key("regret");
    write_regret(json, evaluation.regret);
    json.key("first_click");
    write_policy(json, evaluation.first_click);
    json.key("ndcg");
    write_policy(json, evaluation.ndcg);
  });
}

}  // namespace

std::string evaluation_json(const EvaluationJob& job) {
  JsonWriter json;
  json.object([&] {
    json.key("state").text(state_name(job.state));
    json.key("ranker").text(job.choice.ranker);
    json.key("params");
    write_params(json, job.choice.params);
    json.key("position").whole(job.position);
    json.key("head").whole(job.head);
    if (job.result) {
      json.key("result");
      write_evaluation(json, *job.result);
    }
    if (job.error) {
      json.key("error").text(public_message(*job.error));
    }
  });
  return json.take();
}

}  // namespace hindsight
