#include "src/core/race.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "src/core/block_sums.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"
#include "src/core/packed_sort.h"
#include "src/core/scratch.h"

namespace hindsight {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Exponential and uniform numbers, drawn many at once.
class Draws {
 public:
  explicit Draws(Rng& rng) : rng_(rng) {}

  double exponential() {
    if (next_exponential_ == kMany) {
      rng_.fill_exponential(exponential_);
      next_exponential_ = 0;
    }
    return exponential_[next_exponential_++];
  }

  /// In (0, 1].
  double uniform() {
    if (next_uniform_ == kMany) {
      rng_.fill_uniform_positive(uniform_);
      next_uniform_ = 0;
    }
    return uniform_[next_uniform_++];
  }

 private:
  static constexpr std::size_t kMany = 32;
  Rng& rng_;
  std::array<double, kMany> exponential_;
  std::array<double, kMany> uniform_;
  std::size_t next_exponential_ = kMany;
  std::size_t next_uniform_ = kMany;
};

struct Finish {
  double time;
  std::uint32_t position;

  friend bool operator<(const Finish& a, const Finish& b) { return a.time < b.time; }
};

template <class T>
Result<void> check_each(std::span<const T> weights) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto weight = static_cast<double>(weights[i]);
    if (weight >= 0.0 && weight <= kMaxRaceWeight) {
      continue;
    }
    const std::string field = "weights[" + std::to_string(i) + "]";
    if (!std::isfinite(weight)) {
      return Error{ErrorCode::kNotFinite, "a weight is not a finite number", field};
    }
    return Error{ErrorCode::kInvalidArgument, "a weight is negative or larger than 1e200", field};
  }
  return {};
}

template <class T>
class Race {
 public:
  Race(std::span<const T> weights, std::size_t k, Rng& rng)
      : weights_(weights), full_blocks_(weights.size() / kBlockSize), wanted_(k), draws_(rng) {
    std::copy(weights.begin() + static_cast<std::ptrdiff_t>(full_blocks_ * kBlockSize),
              weights.end(), tail_.begin());
    finishers_.reserve(k);
    order_.reserve(k);
  }

  Result<std::vector<std::uint32_t>> run() {
    double total = 0.0;
    if (!pass(guess_limit(sampled_total()), total)) {
      return check_each(weights_).error();
    }
    if (wanted_ > 0) {
      // Fewer than k finished before the limit. What is left of the total decides the next guess,
      // unless what was taken out of it leaves nothing but rounding.
      double rest = total;
      for (const std::uint32_t i : excluded_) {
        rest -= length_of(weights_[i]);
      }
      pass(rest > 1e-3 * total ? guess_limit(rest) : kInfinity, total);
    }
    if (wanted_ > 0) {
      pass(kInfinity, total);
    }
    return std::move(order_);
  }

 private:
  /// A time before which k items will probably have finished, and not many more: the number of
  /// points of the process before time t is Poisson with mean t * total.
  double guess_limit(double total) const {
    const auto k = static_cast<double>(wanted_);
    const double limit = (k + 3.0 * std::sqrt(k) + 3.0) / total;
    return limit > 0.0 ? limit : kInfinity;  // also where the total is zero or not a number
  }

  double sampled_total() const {
    constexpr std::size_t kSample = 16;
    const std::size_t blocks = std::min(full_blocks_, kSample);
    if (full_blocks_ <= 1) {
      return sum_of(weights_) * kDistancePerWeight<T>;
    }
    double total = 0.0;
    for (std::size_t j = 0; j < blocks; ++j) {
      const std::size_t block = (2 * j + 1) * full_blocks_ / (2 * blocks);
      total += skip_blocks(weights_.data() + block * kBlockSize, 1, kInfinity).total;
    }
    return total * static_cast<double>(weights_.size()) / static_cast<double>(blocks * kBlockSize);
  }

  /// One pass over the weights: all finishers before `limit` after the time reached so far, or the
  /// first that are wanted. RETURNS: whether every weight was valid; `total` gets their sum.
  bool pass(double limit, double& total) {
    limit_ = limit;
    distance_ = next_jump();
    total = 0.0;
    const bool valid = pass_blocks(weights_.data(), 0, full_blocks_, total) &&
                       pass_blocks(tail_.data(), full_blocks_ * kBlockSize, 1, total);
    std::sort(finishers_.begin(), finishers_.end());
    for (const Finish& f : finishers_) {
      order_.push_back(f.position);
    }
    excluded_ = order_;
    std::sort(excluded_.begin(), excluded_.end());
    wanted_ -= finishers_.size();
    finishers_.clear();
    return valid;
  }

  bool pass_blocks(const T* weights, std::size_t base, std::size_t blocks, double& total) {
    for (std::size_t at = 0; at < blocks; ++at) {
      const BlockSkip skip = skip_blocks(weights + at * kBlockSize, blocks - at, distance_);
      total += skip.total;
      distance_ = skip.left;
      at += skip.passed;
      if (skip.sign && !checked_) {
        if (!check_each(weights_).ok()) {
          return false;
        }
        checked_ = true;  // there is nothing worse than a -0.0
      }
      if (at < blocks && !scan(weights + at * kBlockSize, base + at * kBlockSize)) {
        return false;
      }
    }
    return true;
  }

  /// Goes through a block item by item, lane after lane (any fixed order will do). RETURNS: whether
  /// its weights are valid.
  bool scan(const T* block, std::size_t base) {
    double lanes[kBlockLanes];
    lane_sums(block, lanes);
    for (std::size_t j = 0; j < kBlockLanes; ++j) {
      if (!(lanes[j] <= kBlockRows * kMaxRaceWeight)) {
        return false;
      }
      const double lane = length_of(lanes[j]);
      if (distance_ >= lane) {
        distance_ -= lane;
        continue;
      }
      for (std::size_t i = j; i < kBlockSize; i += kBlockLanes) {
        const double length = length_of(block[i]);
        if (distance_ < length) {  // never at a weight of zero
          finish(static_cast<std::uint32_t>(base + i), length, length - distance_);
          distance_ = next_jump();
        } else {
          distance_ -= length;
        }
      }
    }
    // Either the point lay in the surplus of the block, and the next one is a new jump away; or the
    // distance that is left may be drawn afresh, since it has no memory.
    distance_ = next_jump();
    return true;
  }

  template <class Weight>
  static double length_of(Weight weight) {
    return static_cast<double>(weight) * kDistancePerWeight<T>;
  }

  double next_jump() { return limit_ == kInfinity ? 0.0 : draws_.exponential() / limit_; }

  /// A point below the limit lies in the strip of an item; `rest` of the strip lies behind it.
  void finish(std::uint32_t position, double length, double rest) {
    if (std::binary_search(excluded_.begin(), excluded_.end(), position)) {
      return;
    }
    double time = 0.0;
    const double expected_points = length * limit_;
    if (expected_points < 1.0) {
      // The earliest of the points in the strip.
      time = draws_.uniform() * limit_;
      for (double gap = next_jump(); gap < rest; gap = next_jump()) {
        rest -= gap;
        time = std::min(time, draws_.uniform() * limit_);
      }
    } else {
      // An exponential time of rate `length`, given that it is below the limit.
      const double below = 1.0 - det_exp(-expected_points);
      time = -det_log(1.0 - (1.0 - draws_.uniform()) * below) / length;
    }
    if (finishers_.size() == wanted_) {
      std::pop_heap(finishers_.begin(), finishers_.end());
      finishers_.pop_back();
    }
    finishers_.push_back({time, position});
    std::push_heap(finishers_.begin(), finishers_.end());
    if (finishers_.size() == wanted_) {
      limit_ = finishers_.front().time;
    }
  }

  std::span<const T> weights_;
  std::size_t full_blocks_;
  std::array<T, kBlockSize> tail_{};  // the last, partial block, filled up with zeros
  std::size_t wanted_;
  Draws draws_;
  double limit_ = kInfinity;             // only finishers before it matter
  double distance_ = 0.0;                // how far the next point is away, in weight
  bool checked_ = false;                 // every weight was looked at on its own
  std::vector<Finish> finishers_;        // a heap, latest on top
  std::vector<std::uint32_t> order_;     // finishers of earlier passes
  std::vector<std::uint32_t> excluded_;  // the same, by position
};

}  // namespace

Result<void> check_weights(std::span<const float> weights) { return check_each(weights); }

Result<void> check_weights(std::span<const double> weights) { return check_each(weights); }

Result<std::vector<std::uint32_t>> race_with_jumps(std::span<const float> weights, std::size_t k,
                                                   Rng& rng) {
  return Race<float>(weights, k, rng).run();
}

Result<std::vector<std::uint32_t>> race_with_jumps(std::span<const double> weights, std::size_t k,
                                                   Rng& rng) {
  return Race<double>(weights, k, rng).run();
}

std::vector<std::uint32_t> race_of_all(std::span<const double> weights, std::size_t k, Rng& rng) {
  const std::size_t n = weights.size();
  Scratch<double> times(n);
  const std::span<double> time = times.values();
  rng.fill_exponential(time);
  Scratch<std::uint64_t> scratch(n);
  const std::span<std::uint64_t> keys = scratch.values();
  std::size_t positive = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool races = weights[i] > 0.0;
    keys[i] = races ? ascending_key(time[i] / (weights[i] * kDistancePerWeight<double>))
                    : ~std::uint64_t{0};
    positive += races ? 1 : 0;
  }
  const std::size_t count = std::min(k, positive);
  if (count == 0) {
    return {};
  }
  std::vector<std::uint32_t> order = positions_of_smallest(keys, count);
  order.resize(count);
  return order;
}

}  // namespace hindsight
