// NewestFirstRanker: puts the newest item first and remembers what it was told.

#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "hindsight/ranker.h"
#include "hindsight/signals.h"

namespace hindsight {

class NewestFirstRanker final : public Ranker {
 public:
  /// What was told, in the order of the calls.
  struct Told {
    std::vector<Request> requests;  // their spans are gone
    std::vector<Decision> learned;
    std::vector<ItemIndex> picks;
    std::vector<std::uint64_t> picks_in_signals;  // of all items, when the click is learned
    std::vector<std::vector<ItemIndex>> links;    // of each item added
  };

  /// With `uniform_law` it pretends that each item was equally likely to stand first.
  NewestFirstRanker(bool uniform_law, Told* told) : uniform_law_(uniform_law), told_(told) {}

  Description describe() const override { return {}; }
  double item_score(ItemIndex item) const override { return item; }

 protected:
  Result<Decision> do_rank(const Request& request, const Signals& /*signals*/,
                           Rng& /*rng*/) const override {
    told_->requests.push_back(request);
    told_->requests.back().candidates = {};
    Decision decision;
    decision.choice_set = ChoiceSet::kCandidates;
    decision.items.assign(request.candidates.begin(), request.candidates.end());
    std::sort(decision.items.begin(), decision.items.end(), std::greater<>());
    decision.shown_count = request.k;
    const auto n = static_cast<double>(decision.items.size());
    for (const ItemIndex item : decision.items) {
      decision.score.push_back(item);
      const bool first = item == decision.items.front();
      decision.prob_first.push_back(uniform_law_ ? 1.0 / n : first ? 1.0 : 0.0);
    }
    return decision;
  }
  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& signals) override {
    told_->learned.push_back(decision);
    told_->picks.push_back(feedback.clicked.at(0));
    told_->picks_in_signals.push_back(signals.total_picks());
    return LearnReport{.learned = 1};
  }
  void do_add_items(std::span<const Item> items) override {
    for (const Item& item : items) {
      told_->links.push_back(item.links);
    }
  }
  void do_save(ByteWriter& /*out*/) const override {}
  Result<void> do_load(ByteReader& /*in*/) override { return {}; }

 private:
  bool uniform_law_;
  Told* told_;
};

}  // namespace hindsight
