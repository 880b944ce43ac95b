#include "src/sim/ranking_play.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/core/check.h"
#include "src/core/order_loss.h"

namespace hindsight {
namespace {

constexpr double kDispersion = 0.8;  // the factor for each pair of items

/// Items are inserted one after the other, each as many places before the end as a truncated
/// geometric law says: every pair that this turns round costs one factor.
class Mallows final : public RankingSequence {
 public:
  explicit Mallows(std::uint32_t items) : items_(items) {}

  std::span<const std::uint32_t> next(std::span<const double> /*counts*/, Rng& rng) override {
    ranking_.clear();
    for (std::uint32_t item = 0; item < items_; ++item) {
      const double total = (1.0 - std::pow(kDispersion, item + 1)) / (1.0 - kDispersion);
      double left = rng.uniform() * total;
      double share = 1.0;
      std::uint32_t back = 0;
      while (back < item && left >= share) {
        left -= share;
        share *= kDispersion;
        ++back;
      }
      ranking_.insert(ranking_.end() - back, item);
    }
    return ranking_;
  }

 private:
  std::uint32_t items_;
  std::vector<std::uint32_t> ranking_;
};

class Reversing final : public RankingSequence {
 public:
  std::span<const std::uint32_t> next(std::span<const double> counts, Rng& /*rng*/) override {
    ranking_ = best_order(counts);
    std::reverse(ranking_.begin(), ranking_.end());
    return ranking_;
  }

 private:
  std::vector<std::uint32_t> ranking_;
};

constexpr std::array<std::string_view, 2> kNames = {"mallows", "reversing"};

}  // namespace

std::span<const std::string_view> ranking_sequence_names() { return kNames; }

Result<std::unique_ptr<RankingSequence>> make_ranking_sequence(std::string_view name,
                                                               std::uint32_t items) {
  using Made = std::unique_ptr<RankingSequence>;
  if (items == 0) {
    return Error{ErrorCode::kInvalidArgument, "there must be items to rank", "items"};
  }
  if (name == "mallows") {
    return Made(std::make_unique<Mallows>(items));
  }
  if (name == "reversing") {
    return Made(std::make_unique<Reversing>());
  }
  return Error{ErrorCode::kUnknownName, "no such sequence; there are mallows, reversing",
               "sequence"};
}

RunOutcome play_ranking_game(OrderLearner& learner, RankingSequence& sequence, std::uint32_t items,
                             std::uint64_t rounds, std::uint64_t seed) {
  HINDSIGHT_CHECK(rounds >= 1);
  Rng coins(seed);
  std::vector<double> counts(items, 0.0);
  std::vector<double> scores(items);
  double loss = 0.0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::span<const std::uint32_t> ranking = sequence.next(counts, coins);
    for (std::uint32_t rank = 0; rank < items; ++rank) {
      // Departs from Corollary 5.1, which prints the ranks themselves: a lower rank is better.
      scores[ranking[rank]] = static_cast<double>(items - 1 - rank);
    }
    for (std::uint32_t item = 0; item < items; ++item) {
      loss += scores[item] * learner.mean_position(item);
      counts[item] += scores[item];
    }
    learner.learn(scores);
  }
  return {.loss = loss, .regret = loss - position_loss(best_order(counts), counts)};
}

// With positions p and ranks r from 0: rho = 1 - 6 sum (p - r)^2 / (n (n^2 - 1)), and the loss is
// sum p (n - 1 - r).
double mean_spearman(double loss, std::uint32_t items, std::uint64_t rounds) {
  HINDSIGHT_CHECK(items >= 2 && rounds >= 1);
  const double n = static_cast<double>(items);
  const double squares = n * (n - 1.0) * (2.0 * n - 1.0) / 6.0;
  const double products = 0.5 * n * (n - 1.0) * (n - 1.0) - loss / static_cast<double>(rounds);
  return 1.0 - 12.0 * (squares - products) / (n * (n * n - 1.0));
}

}  // namespace hindsight
