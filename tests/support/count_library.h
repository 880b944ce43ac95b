// A library in which every list shows all items, for the rankers that count what was chosen; and
// the exact expected loss of what they draw.

#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/core/bytes.h"
#include "tests/support/stream.h"

namespace hindsight::testing {

/// A library of n items in which every list shows all of them.
class CountLibrary {
 public:
  CountLibrary(std::string_view name, std::uint32_t n, const ParamMap& params = {})
      : ranker(*make_ranker(name, params)) {
    grow(n);
  }

  void grow(std::uint32_t n) {
    while (all_.size() < n) {
      const Item item = plain_item(static_cast<ItemIndex>(all_.size()));
      EXPECT_TRUE(ranker->add_items(std::span(&item, 1)).ok());
      all_.push_back(item.index);
    }
  }
  /// A list of all, or of the first k.
  Decision rank(std::size_t k = 0) {
    Request request;
    request.decision = {.source = 1, .counter = ++lists_};
    request.candidates = all_;
    request.k = k == 0 ? all_.size() : k;
    Rng rng = Rng::for_decision(seed, request.decision);
    return *ranker->rank(request, signals_, rng);
  }
  /// RETURNS: how likely the ranker is to list all items in this order.
  ListProbability probability(const std::vector<ItemIndex>& order) {
    Request request;
    request.candidates = all_;
    request.k = all_.size();
    return *ranker->list_probability(request, signals_, order);
  }
  Result<LearnReport> click(const Decision& decision, std::vector<ItemIndex> items) {
    Feedback feedback;
    feedback.decision = decision.id;
    feedback.clicked = std::move(items);
    return ranker->learn(decision, feedback, signals_);
  }
  Result<LearnReport> judge(const Decision& decision, std::vector<ItemIndex> order) {
    Feedback feedback;
    feedback.decision = decision.id;
    feedback.full_order = std::move(order);
    return ranker->learn(decision, feedback, signals_);
  }

  std::unique_ptr<Ranker> ranker;
  std::uint64_t seed = 1;

 private:
  Signals signals_;
  std::vector<ItemIndex> all_;
  std::uint64_t lists_ = 0;
};

/// P(an item stands before another) by how much higher its score is.
using PairLaw = std::function<double(double)>;

/// [Ailon13] Lemma 6.1, of both sorts.
inline double logistic_pair(double lead) { return 1.0 / (1.0 + std::exp(-lead)); }
/// Scores plus noise that is uniform in [0, 1).
inline double uniform_pair(double lead) {
  const double missing = std::max(0.0, 1.0 - std::abs(lead));
  return lead >= 0.0 ? 1.0 - missing * missing / 2.0 : missing * missing / 2.0;
}

/// The expected pairwise loss (2.2) of a list of all items, from the law of pairs alone; `wanted`
/// has a number for each.
inline double expected_loss(const Ranker& ranker, const std::vector<double>& wanted,
                            const PairLaw& before) {
  double loss = 0.0;
  for (ItemIndex u = 0; u < wanted.size(); ++u) {
    for (ItemIndex v = 0; v < wanted.size(); ++v) {
      if (wanted[u] > wanted[v]) {
        loss += (wanted[u] - wanted[v]) * before(ranker.item_score(v) - ranker.item_score(u));
      }
    }
  }
  return loss;
}

/// Loads a ranker with these counts, as if they had been learned in so many rounds.
inline Result<void> load_counts(Ranker& ranker, const std::vector<double>& counts,
                                std::uint64_t rounds, double shift) {
  ByteWriter out;
  out.put(std::vector<std::uint8_t>(counts.size(), 1));
  out.put(counts);
  out.put(rounds);
  out.put(shift);
  const std::vector<std::byte> bytes = out.take();
  ByteReader in(bytes);
  return ranker.load(in);
}

}  // namespace hindsight::testing
