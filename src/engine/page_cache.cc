#include "src/engine/page_cache.h"

namespace hindsight {
namespace {

constexpr std::size_t kMaxCandidatesKept = std::size_t{8} << 20;  // of all lists together

}  // namespace

void PageCache::put(const DecisionId& id, std::shared_ptr<PagedList> list) {
  const std::size_t size = list->rest.size();
  std::shared_ptr<PagedList> dropped;  // freed outside of the lock
  const std::lock_guard lock(mutex_);
  lists_[id] = std::move(list);
  order_.emplace_back(id, size);
  candidates_ += size;
  while (order_.size() > max_entries_ || (candidates_ > kMaxCandidatesKept && order_.size() > 1)) {
    const auto oldest = lists_.find(order_.front().first);
    dropped = std::move(oldest->second);
    lists_.erase(oldest);
    candidates_ -= order_.front().second;
    order_.pop_front();
  }
}

std::shared_ptr<PagedList> PageCache::find(const DecisionId& id) {
  const std::lock_guard lock(mutex_);
  const auto place = lists_.find(id);
  return place == lists_.end() ? nullptr : place->second;
}

}  // namespace hindsight
