#include "src/engine/page_cache.h"

namespace hindsight {
namespace {

std::size_t size_of(const PagedList& list) {
  const FeatureRows& rows = list.features;
  return sizeof(PagedList) + list.input.query.size() + list.input.user.size() +
         (list.rest.size() + list.just_shown.size()) * sizeof(ItemIndex) +
         (list.priors.size() + rows.dense.size() + rows.sparse_value.size()) * sizeof(double) +
         (rows.row_begin.size() + rows.sparse_index.size()) * sizeof(std::uint32_t);
}

}  // namespace

void PageCache::put(const DecisionId& id, std::shared_ptr<PagedList> list) {
  const std::size_t size = size_of(*list);
  if (size > max_bytes_) {
    return;
  }
  std::vector<std::shared_ptr<PagedList>> dropped;  // freed outside of the lock
  const std::lock_guard lock(mutex_);
  lists_[id] = std::move(list);
  order_.emplace_back(id, size);
  bytes_ += size;
  while (order_.size() > max_entries_ || bytes_ > max_bytes_) {
    const auto oldest = lists_.find(order_.front().first);
    dropped.push_back(std::move(oldest->second));
    lists_.erase(oldest);
    bytes_ -= order_.front().second;
    order_.pop_front();
  }
}

void PageCache::clear() {
  const std::lock_guard lock(mutex_);
  lists_.clear();
  order_.clear();
  bytes_ = 0;
}

std::shared_ptr<PagedList> PageCache::find(const DecisionId& id) {
  const std::lock_guard lock(mutex_);
  const auto place = lists_.find(id);
  return place == lists_.end() ? nullptr : place->second;
}

}  // namespace hindsight
