// RidgeEstimate: least squares of rewards that are linear in features, with a ridge of 1.
//
//   V = I + sum x x^T,  theta = V^-1 sum x y,  and ||x||^2 = x^T V^-1 x says how well x is known.
//
// Vectors may be shorter than the dimension: what is missing is zero.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

class RidgeEstimate {
 public:
  explicit RidgeEstimate(std::size_t dim = 0) { grow(dim); }

  std::size_t dim() const { return sum_.size(); }
  std::uint64_t count() const { return count_; }
  const std::vector<double>& theta() const { return theta_; }
  std::size_t memory_bytes() const {
    return (v_.capacity() + sum_.capacity() + theta_.capacity() + whitening_.capacity()) *
           sizeof(double);
  }
  /// Lower triangular T with x^T V^-1 x = |T x|^2, as squared_lengths_of takes it.
  const std::vector<double>& whitening() const { return whitening_; }

  /// More dimensions, of which nothing is known yet.
  void grow(std::size_t dim);
  /// Observes y at x; theta and whitening are those of before until `refresh`. REQUIRES: x is not
  /// longer than the dimension
  void add(std::span<const double> x, double y);
  void refresh();

  /// RETURNS: theta + scale V^(-1/2) z, z a standard normal vector.
  std::vector<double> sample(double scale, Rng& rng) const;

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt
  Result<void> load(ByteReader& in);

 private:
  std::vector<double> v_;    // dim x dim, its lower triangle
  std::vector<double> sum_;  // of x y
  std::uint64_t count_ = 0;
  std::vector<double> theta_;
  std::vector<double> whitening_;
};

/// The width of the bonus for which [Li16] proves a regret bound after T rounds in d dimensions:
/// sqrt(d log(1 + T / d) + 2 log(4 T)) + 1. REQUIRES: d, T >= 1
double proven_width(std::size_t dim, std::uint64_t horizon);

}  // namespace hindsight
