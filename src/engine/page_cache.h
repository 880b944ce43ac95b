// PageCache: what the next page of a list needs, for the latest lists.
//
// Every policy that draws without replacement can go on where it stopped: the next page is drawn
// from the candidates that were not shown yet. A page that was given once is given again when asked
// again.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "src/engine/api.h"
#include "src/engine/decision_table.h"

namespace hindsight {

/// A list that can be paged through. Its owner locks `mutex` while a page is made.
struct PagedList {
  std::mutex mutex;
  RankInput input;                    // without candidates: those are below
  std::vector<ItemIndex> rest;        // candidates that were not shown, but for the latest page
  std::vector<ItemIndex> just_shown;  // the latest page
  std::vector<double> priors;         // of each of them, or empty
  FeatureRows features;               // of each of them, or empty
  bool control = false;               // in the caller's order, which its pages go on with
  std::size_t shown = 0;
  std::map<std::size_t, RankReply> pages;  // that were given, by their offset
};

class PageCache {
 public:
  PageCache(std::size_t max_entries, std::size_t max_bytes)
      : max_entries_(max_entries), max_bytes_(max_bytes) {}

  void put(const DecisionId& id, std::shared_ptr<PagedList> list);
  void clear();
  /// RETURNS: null for a list that is not kept (any more).
  std::shared_ptr<PagedList> find(const DecisionId& id);

 private:
  std::size_t max_entries_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::mutex mutex_;
  std::unordered_map<DecisionId, std::shared_ptr<PagedList>, DecisionIdHash> lists_;
  std::deque<std::pair<DecisionId, std::size_t>> order_;  // with their bytes
};

}  // namespace hindsight
