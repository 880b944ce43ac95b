#include "src/engine/decision_cache.h"

#include "src/core/check.h"

namespace hindsight {

std::size_t DecisionCache::size_of(const DecisionEvent& event) {
  const Decision& decision = event.decision;
  const FeatureRows& rows = decision.features;
  std::size_t bytes = sizeof(DecisionEvent) + 64 + decision.items.size() * sizeof(ItemIndex) +
                      (decision.score.size() + decision.prob_first.size() + decision.prior.size() +
                       rows.dense.size() + rows.sparse_value.size()) *
                          sizeof(double) +
                      (rows.row_begin.size() + rows.sparse_index.size()) * sizeof(std::uint32_t) +
                      decision.aux.size() + event.query.size();
  for (const std::string& id : event.appended) {
    bytes += sizeof(std::string) + id.size();
  }
  return bytes;
}

void DecisionCache::put(Position position, const Shared& decision) {
  const auto [place, is_new] = decisions_.try_emplace(position, decision);
  if (!is_new) {
    return;
  }
  bytes_ += size_of(*place->second);
  order_.push_back(position);
  while (bytes_ > max_bytes_ && order_.size() > 1) {
    const auto oldest = decisions_.find(order_.front());
    bytes_ -= size_of(*oldest->second);
    decisions_.erase(oldest);
    order_.pop_front();
  }
}

Result<DecisionCache::Shared> DecisionCache::get(Position position) {
  const auto place = decisions_.find(position);
  if (place != decisions_.end()) {
    return place->second;
  }
  HINDSIGHT_ASSIGN_OR_RETURN(Shared decision, loader_(position));
  put(position, decision);
  return decision;
}

DecisionCache::Loader decision_loader(const LogView& store, LogId log) {
  return [&store, log](Position position) -> Result<DecisionCache::Shared> {
    HINDSIGHT_ASSIGN_OR_RETURN(const Payload payload, store.read_at(log, position));
    HINDSIGHT_ASSIGN_OR_RETURN(Event event, decode_event(payload));
    DecisionEvent* decision = std::get_if<DecisionEvent>(&event.body);
    if (decision == nullptr) {
      return Error{ErrorCode::kCorrupt, "the log has no decision where there was one", "log"};
    }
    decision->candidates = {};
    return DecisionCache::Shared(std::make_shared<const DecisionEvent>(std::move(*decision)));
  };
}

}  // namespace hindsight
