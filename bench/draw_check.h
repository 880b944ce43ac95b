// DrawCheck: are the lists that a benchmark drew the lists of the law?

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/result.h"

namespace hindsight::bench {

/// Float weights of an exponential law, the same for the same n.
std::vector<float> make_weights(std::size_t n);

/// Looks at every list: k distinct positions; and at the mean weight of what was drawn first, which
/// is to be sum w^2 / sum w. Thread-safety: one thread
class DrawCheck {
 public:
  DrawCheck(std::span<const float> weights, std::size_t k);

  /// RETURNS: the weight of the first. The list is kept for verdict() if it is not valid.
  double note(std::span<const std::uint32_t> list);

  /// FAILS: kCorrupt: a list was not valid, or the mean is 6 standard errors away (which happens by
  /// chance with probability below 1e-6 once there are a hundred lists; before, it is not judged)
  Result<void> verdict() const;

 private:
  std::span<const float> weights_;
  std::size_t k_;
  double expected_mean_;
  double standard_deviation_;
  double sum_ = 0.0;
  std::size_t lists_ = 0;
  bool invalid_ = false;
};

}  // namespace hindsight::bench
