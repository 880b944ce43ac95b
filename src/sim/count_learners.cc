#include "src/sim/count_learners.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "src/core/check.h"
#include "src/core/choice_rate.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"
#include "src/core/order_loss.h"
#include "src/core/plackett_luce.h"
#include "src/core/quicksort_policy.h"
#include "src/sim/pair_table.h"

namespace hindsight {
namespace {

/// What the methods share: counts, and the table of their differences.
class CountLearner : public OrderLearner {
 public:
  double mean_position(std::uint32_t item) override {
    return before().mean_position(counts_, item);
  }

 protected:
  explicit CountLearner(std::uint32_t items) : counts_(items, 0) {}

  /// P(u before v), by count(u) - count(v), as of now.
  virtual const PairTable& before() = 0;

  void want(std::uint32_t item, double score) override {
    const auto whole = static_cast<std::int64_t>(score);
    HINDSIGHT_CHECK(static_cast<double>(whole) == score);
    counts_[item] += whole;
  }
  void end_round() override { ++rounds_; }

  const std::vector<std::int64_t>& counts() const { return counts_; }
  std::uint64_t rounds() const { return rounds_; }

 private:
  std::vector<std::int64_t> counts_;
  std::uint64_t rounds_ = 0;
};

PairTable logistic_table(double rate) {
  constexpr double kCertain = 40.0;  // e^-40 is below the rounding of a probability
  const auto reach = static_cast<std::size_t>(kCertain / rate) + 1;
  return PairTable(reach, [rate](double difference) { return det_logistic(rate * difference); });
}

class OnlineRank final : public CountLearner {
 public:
  OnlineRank(const OrderGame& game, SortProc sort, bool doubling)
      : CountLearner(game.items),
        game_(game),
        sort_(sort),
        doubling_(doubling || game.rounds == 0),
        places_(game.items) {}

  std::vector<std::uint32_t> play(Rng& rng) override {
    follow_rate();
    std::vector<double> scores(counts().size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = rate_ * static_cast<double>(counts()[i]);
    }
    Result<std::vector<std::uint32_t>> order = sort_ == SortProc::kQuickSort
                                                   ? draw_quicksort(scores, scores.size(), rng)
                                                   : draw_plackett_luce(scores, scores.size(), rng);
    HINDSIGHT_CHECK(order.ok());
    return *std::move(order);
  }

  void draw_positions(std::span<const std::uint32_t> items, Rng& rng,
                      std::span<double> out) override {
    if (sort_ == SortProc::kQuickSort) {
      places_.draw(before(), counts(), items, rng, out);
    } else {
      OrderLearner::draw_positions(items, rng, out);
    }
  }

 private:
  const PairTable& before() override {
    follow_rate();
    return before_;
  }

  void follow_rate() {
    const std::uint64_t horizon = doubling_ ? doubled_horizon(rounds() + 1) : game_.rounds;
    if (horizon != horizon_) {
      horizon_ = horizon;
      rate_ = online_rank_rate(game_.items, horizon, game_.spread);
      before_ = logistic_table(rate_);
    }
  }

  OrderGame game_;
  SortProc sort_;
  bool doubling_;
  std::uint64_t horizon_ = 0;
  double rate_ = 0.0;
  PairTable before_;
  QuickSortPlaces places_;
};

class PerturbedLeader final : public CountLearner {
 public:
  /// Noise for every item, drawn anew in every round.
  using Noise = std::function<void(Rng&, std::span<double>)>;

  PerturbedLeader(const OrderGame& game, Noise noise, PairTable before)
      : CountLearner(game.items),
        noise_(std::move(noise)),
        before_(std::move(before)),
        perturbed_(game.items) {}

  std::vector<std::uint32_t> play(Rng& rng) override {
    perturb(rng);
    return best_order(perturbed_);
  }

  /// Only those above an item count, in whichever order.
  void draw_positions(std::span<const std::uint32_t> items, Rng& rng,
                      std::span<double> out) override {
    perturb(rng);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const double mine = perturbed_[items[i]];
      out[i] = static_cast<double>(std::count_if(perturbed_.begin(), perturbed_.end(),
                                                 [mine](double other) { return other > mine; }));
    }
  }

 private:
  const PairTable& before() override { return before_; }

  void perturb(Rng& rng) {
    noise_(rng, perturbed_);
    for (std::size_t i = 0; i < perturbed_.size(); ++i) {
      perturbed_[i] += static_cast<double>(counts()[i]);
    }
  }

  Noise noise_;
  PairTable before_;
  std::vector<double> perturbed_;
};

double real(std::uint64_t n) { return static_cast<double>(n); }

/// P(x + a > b) with a and b uniform in [0, 1].
double uniform_law(double x) {
  if (x >= 0.0) {
    return x >= 1.0 ? 1.0 : 1.0 - 0.5 * (1.0 - x) * (1.0 - x);
  }
  return x <= -1.0 ? 0.0 : 0.5 * (1.0 + x) * (1.0 + x);
}

}  // namespace

std::unique_ptr<OrderLearner> make_online_rank(const OrderGame& game, SortProc sort,
                                               bool doubling) {
  return std::make_unique<OnlineRank>(game, sort, doubling);
}

// [KalaiVempala05], as [Ailon13] 4.1 applies it: eps = sqrt(D / (R A T)) with D the diameter of the
// permutahedron in l1, R the greatest loss of a round and A the greatest l1 norm of its scores.
double uniform_noise_width(const OrderGame& game) {
  const double n = real(game.items);
  const double diameter = std::floor(n * n / 2.0);
  return std::sqrt((n - 1.0) * game.mass * game.mass * real(game.rounds) / diameter);
}

std::unique_ptr<OrderLearner> make_uniform_leader(const OrderGame& game) {
  const double width = uniform_noise_width(game);
  const auto noise = [width](Rng& rng, std::span<double> out) {
    rng.fill_uniform_positive(out);
    for (double& x : out) {
      x *= width;
    }
  };
  return std::make_unique<PerturbedLeader>(
      game, noise, PairTable(static_cast<std::size_t>(width) + 1, [width](double difference) {
        return uniform_law(difference / width);
      }));
}

std::unique_ptr<OrderLearner> make_gumbel_leader(const OrderGame& game) {
  const double rate = online_rank_rate(game.items, game.rounds, game.spread);
  const auto noise = [scale = 1.0 / rate](Rng& rng, std::span<double> out) {
    constexpr double kLeast = 0x1p-60;  // its logarithm is finite
    rng.fill_exponential(out);
    for (double& x : out) {
      x = std::max(x, kLeast);
    }
    log_of(out, out);
    for (double& x : out) {
      x *= -scale;
    }
  };
  return std::make_unique<PerturbedLeader>(game, noise, logistic_table(rate));
}

}  // namespace hindsight
