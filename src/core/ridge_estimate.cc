#include "src/core/ridge_estimate.h"

#include <cmath>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/cholesky.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"

namespace hindsight {

void RidgeEstimate::grow(std::size_t dim) {
  const std::size_t before = sum_.size();
  if (dim <= before) {
    return;
  }
  std::vector<double> wider(dim * dim, 0.0);
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      wider[i * dim + j] = i < before ? v_[i * before + j] : (i == j ? 1.0 : 0.0);
    }
  }
  v_ = std::move(wider);
  sum_.resize(dim, 0.0);
  refresh();
}

void RidgeEstimate::add(std::span<const double> x, double y) {
  HINDSIGHT_CHECK(x.size() <= dim());
  const std::size_t n = dim();
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      v_[i * n + j] += x[i] * x[j];
    }
    sum_[i] += y * x[i];
  }
  count_up(count_);
}

void RidgeEstimate::refresh() {
  const auto factor = cholesky(v_, dim());
  if (!factor) {
    return;  // the numbers have outgrown the ridge: what was known stays
  }
  whitening_ = inverse_of_triangle(*factor, dim());
  theta_ = transposed_triangle_times(whitening_, triangle_times(whitening_, sum_));
}

std::vector<double> RidgeEstimate::sample(double scale, Rng& rng) const {
  std::vector<double> z(dim());
  for (double& value : z) {
    value = scale * rng.normal();
  }
  std::vector<double> theta = transposed_triangle_times(whitening_, z);
  for (std::size_t i = 0; i < theta.size(); ++i) {
    theta[i] += theta_[i];
  }
  return theta;
}

void RidgeEstimate::save(ByteWriter& out) const {
  out.put(v_);
  out.put(sum_);
  out.put(count_);
  out.put(theta_);
  out.put(whitening_);
}

Result<void> RidgeEstimate::load(ByteReader& in) {
  in.get(v_);
  in.get(sum_);
  in.get(count_);
  in.get(theta_);
  in.get(whitening_);
  HINDSIGHT_RETURN_IF_ERROR(in.check("estimate"));
  constexpr double kLargest = 1e100;
  const std::size_t n = sum_.size();
  const bool sane = n <= 1024 && v_.size() == n * n && theta_.size() == n &&
                    whitening_.size() == n * n && count_ <= kMaxCount &&
                    all_within(v_, -kLargest, kLargest) && all_within(sum_, -kLargest, kLargest) &&
                    all_within(theta_, -kLargest, kLargest) &&
                    all_within(whitening_, -kLargest, kLargest);
  return sane ? Result<void>()
              : Error{ErrorCode::kCorrupt, "the saved estimate is damaged", "estimate"};
}

double proven_width(std::size_t dim, std::uint64_t horizon) {
  const auto d = static_cast<double>(dim);
  const auto t = static_cast<double>(horizon);
  return std::sqrt(d * det_log(1.0 + t / d) + 2.0 * det_log(4.0 * t)) + 1.0;
}

}  // namespace hindsight
