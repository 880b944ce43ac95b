#include "bench/draw_check.h"

#include <algorithm>
#include <cmath>

#include "hindsight/random.h"

namespace hindsight::bench {

std::vector<float> make_weights(std::size_t n) {
  Rng rng(20'090'101, n);
  std::vector<float> weights(n);
  std::vector<double> chunk(1024);
  for (std::size_t i = 0; i < n; i += chunk.size()) {
    rng.fill_exponential(chunk);
    const std::size_t count = std::min(chunk.size(), n - i);
    for (std::size_t j = 0; j < count; ++j) {
      weights[i + j] = static_cast<float>(chunk[j]);
    }
  }
  return weights;
}

DrawCheck::DrawCheck(std::span<const float> weights, std::size_t k) : weights_(weights), k_(k) {
  double first = 0.0;
  double second = 0.0;
  double third = 0.0;
  for (const float weight : weights) {
    const auto w = static_cast<double>(weight);
    first += w;
    second += w * w;
    third += w * w * w;
  }
  expected_mean_ = second / first;
  standard_deviation_ = std::sqrt(third / first - expected_mean_ * expected_mean_);
}

double DrawCheck::note(std::span<const std::uint32_t> list) {
  // A look at a few neighbours keeps this cheap beside what is measured.
  invalid_ = invalid_ || list.size() != k_ || list.front() >= weights_.size() ||
             list.back() >= weights_.size() || (k_ > 1 && list[0] == list[1]) ||
             (k_ > 1 && list.front() == list.back());
  if (invalid_) {
    return 0.0;
  }
  ++lists_;
  const auto weight = static_cast<double>(weights_[list.front()]);
  sum_ += weight;
  return weight;
}

Result<void> DrawCheck::verdict() const {
  if (invalid_) {
    return Error{ErrorCode::kCorrupt, "a list was drawn that is no list", ""};
  }
  if (lists_ < 100) {
    return {};
  }
  const double mean = sum_ / static_cast<double>(lists_);
  const double error = standard_deviation_ / std::sqrt(static_cast<double>(lists_));
  if (std::abs(mean - expected_mean_) > 6.0 * error) {
    return Error{ErrorCode::kCorrupt, "the lists that were drawn do not follow their law", ""};
  }
  return {};
}

}  // namespace hindsight::bench
