// A small random life of a library, for tests of rankers: items arrive, lists are shown, some are
// clicked.

#pragma once

#include <algorithm>
#include <vector>

#include "hindsight/ranker.h"
#include "hindsight/signals.h"
#include "src/core/check.h"

namespace hindsight::testing {

inline Item plain_item(ItemIndex index) {
  Item item;
  item.index = index;
  return item;
}

/// Folds random events into a ranker and its signals; the same seed gives the same life.
class RandomLife {
 public:
  RandomLife(Ranker& ranker, std::uint64_t seed) : ranker_(ranker), seed_(seed), rng_(seed, 99) {}

  void grow(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      Item item = plain_item(static_cast<ItemIndex>(ranker_.items_added()));
      for (ItemIndex j = 0; j < item.index; ++j) {
        if (rng_.below(item.index) < 2) {
          item.links.push_back(j);
        }
      }
      HINDSIGHT_CHECK(ranker_.add_items(std::span(&item, 1)).ok());
      signals_.item_added(item.index, time_);
    }
  }

  /// One list of up to eight candidates, and the click on one that the hidden taste prefers.
  void visit() {
    std::vector<ItemIndex> candidates;
    for (ItemIndex i = 0; i < ranker_.items_added(); ++i) {
      if (ranker_.is_live(i) && rng_.below(3) != 0 && candidates.size() < 8) {
        candidates.push_back(i);
      }
    }
    if (candidates.size() < 2) {
      return;
    }
    Request request;
    request.decision = {.source = 0, .counter = ++visits_};
    request.time_ms = time_ += 1000;
    request.candidates = candidates;
    request.k = 2 + rng_.below(candidates.size() - 1);
    request.session = 1 + visits_ / 3;
    Rng draw = Rng::for_decision(seed_, request.decision);
    const auto decision = ranker_.rank(request, signals_, draw);
    HINDSIGHT_CHECK(decision.ok());
    const auto shown = decision->shown();
    Feedback feedback;
    feedback.decision = decision->id;
    feedback.clicked = {
        std::max(*std::min_element(shown.begin(), shown.end()), shown[rng_.below(shown.size())])};
    feedback.closed = true;
    HINDSIGHT_CHECK(ranker_.learn(*decision, feedback, signals_).ok());
    signals_.picked(feedback.clicked[0], time_, request.session, 0);
  }

  const Signals& signals() const { return signals_; }

 private:
  Ranker& ranker_;
  std::uint64_t seed_;
  Rng rng_;
  Signals signals_;
  std::int64_t time_ = 0;
  std::uint64_t visits_ = 0;
};

}  // namespace hindsight::testing
