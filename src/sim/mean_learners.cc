#include "src/sim/mean_learners.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/det_math.h"
#include "src/core/kernels.h"
#include "src/sim/doubly_stochastic.h"
#include "src/sim/permutahedron.h"

namespace hindsight {
namespace {

double real(std::uint64_t n) { return static_cast<double>(n); }

// std::lgamma writes to a variable that all threads share.
double log_factorial(std::uint32_t n) {
  double sum = 0.0;
  for (std::uint32_t i = 2; i <= n; ++i) {
    sum += det_log(real(i));
  }
  return sum;
}

class AllOrders final : public OrderLearner {
 public:
  explicit AllOrders(const OrderGame& game) {
    std::vector<std::uint32_t> order(game.items);
    std::iota(order.begin(), order.end(), 0U);
    do {
      orders_.push_back(order);
    } while (std::next_permutation(order.begin(), order.end()));
    places_.assign(game.items, std::vector<double>(orders_.size()));
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      for (std::uint32_t place = 0; place < game.items; ++place) {
        places_[orders_[i][place]][i] = real(place);
      }
    }
    exponents_.assign(orders_.size(), 0.0);
    weights_.assign(orders_.size(), 1.0);
    total_ = real(orders_.size());
    rate_ = std::sqrt(8.0 * log_factorial(game.items) / real(game.rounds)) / game.range;
  }

  std::vector<std::uint32_t> play(Rng& rng) override {
    std::vector<double> sums(weights_.size());
    std::partial_sum(weights_.begin(), weights_.end(), sums.begin());
    const auto drawn = std::upper_bound(sums.begin(), sums.end(), sums.back() * rng.uniform());
    return orders_[std::min<std::size_t>(drawn - sums.begin(), orders_.size() - 1)];
  }
  double mean_position(std::uint32_t item) override {
    return dot(weights_, places_[item]) / total_;
  }

 private:
  void want(std::uint32_t item, double score) override {
    const std::vector<double>& places = places_[item];
    for (std::size_t i = 0; i < exponents_.size(); ++i) {
      exponents_[i] -= rate_ * score * places[i];
    }
  }
  void end_round() override { total_ = exp_shifted(exponents_, max_of(exponents_), weights_); }

  std::vector<std::vector<std::uint32_t>> orders_;
  std::vector<std::vector<double>> places_;  // [item][order]
  std::vector<double> exponents_;            // -rate * the loss of each order
  std::vector<double> weights_;
  double total_ = 0.0;
  double rate_ = 0.0;
};

/// What the best order loses at most, in units of (n - 1) * the largest score: no more than a mean
/// order.
double permelearn_estimate(const OrderGame& game) {
  return real(game.rounds) * game.mass / (2.0 * game.largest);
}

// [HelmboldWarmuth09]: the loss of item i at place j is s(i) j / ((n - 1) max s), at most 1; eta
// from the bound of Theorem 6 there with the loss of a mean order as the estimate.
class PermELearn final : public OrderLearner {
 public:
  explicit PermELearn(const OrderGame& game)
      : matrix_(game.items, 1.0 / real(game.items)), unit_(game.largest * real(game.items - 1)) {
    const double n = real(game.items);
    rate_ = std::log1p(std::sqrt(2.0 * n * std::log(n) / permelearn_estimate(game)));
  }

  std::vector<std::uint32_t> play(Rng& rng) override { return draw_birkhoff(matrix_, rng); }
  double mean_position(std::uint32_t item) override {
    double mean = 0.0;
    for (std::size_t place = 1; place < matrix_.n; ++place) {
      mean += real(place) * matrix_.at(item, place);
    }
    return mean;
  }

 private:
  void want(std::uint32_t item, double score) override {
    // Never quite impossible: what is zero once could not come back.
    constexpr double kLeast = 1e-200;
    const double step = std::exp(-rate_ * score / unit_);
    double factor = 1.0;
    for (std::size_t place = 0; place < matrix_.n; ++place) {
      matrix_.at(item, place) = std::max(matrix_.at(item, place) * factor, kLeast);
      factor *= step;
    }
  }
  void end_round() override {
    constexpr double kTolerance = 1e-9;
    balance(matrix_, kTolerance);
  }

  SquareMatrix matrix_;
  double unit_;
  double rate_ = 0.0;
};

/// The distance of an order from its reverse.
double permutahedron_diameter(const OrderGame& game) {
  const double n = real(game.items);
  return std::sqrt(n * (n * n - 1.0) / 3.0);
}

// [Suehiro12]: gradient steps in the permutahedron; eta = diameter / (largest gradient * sqrt(T)).
class Permutahedron final : public OrderLearner {
 public:
  explicit Permutahedron(const OrderGame& game)
      : point_(game.items, (real(game.items) - 1.0) / 2.0),
        rate_(permutahedron_diameter(game) / std::sqrt(game.squared_norm * real(game.rounds))) {}

  std::vector<std::uint32_t> play(Rng& rng) override {
    return draw_from_permutahedron(point_, rng);
  }
  double mean_position(std::uint32_t item) override {
    return real(point_.size()) - 1.0 - point_[item];
  }

 private:
  void want(std::uint32_t item, double score) override { point_[item] += rate_ * score; }
  void end_round() override { projection_.project(point_); }

  std::vector<double> point_;
  PermutahedronProjection projection_;
  double rate_ = 0.0;
};

}  // namespace

std::unique_ptr<OrderLearner> make_all_orders(const OrderGame& game) {
  return std::make_unique<AllOrders>(game);
}

// Hoeffding's lemma: log(n!) / eta + eta T range^2 / 8.
double all_orders_bound(const OrderGame& game) {
  return game.range * std::sqrt(real(game.rounds) * log_factorial(game.items) / 2.0);
}

std::unique_ptr<OrderLearner> make_permelearn(const OrderGame& game) {
  return std::make_unique<PermELearn>(game);
}

double permelearn_bound(const OrderGame& game) {
  const double start = real(game.items) * std::log(real(game.items));
  return game.largest * real(game.items - 1) *
         (std::sqrt(2.0 * permelearn_estimate(game) * start) + start);
}

std::unique_ptr<OrderLearner> make_permutahedron(const OrderGame& game) {
  return std::make_unique<Permutahedron>(game);
}

// Gradient steps: R^2 / (2 eta) + eta T G^2 / 2, where the first point is the centre and R half of
// the diameter.
double permutahedron_bound(const OrderGame& game) {
  return 0.625 * permutahedron_diameter(game) * std::sqrt(game.squared_norm * real(game.rounds));
}

}  // namespace hindsight
