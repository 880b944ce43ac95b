#include "src/core/vector_set.h"

#include <cmath>
#include <string>

#include "src/core/check.h"
#include "src/core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/core/vector_set.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hindsight {
namespace HWY_NAMESPACE {
// Named in Highway's style, as in kernels.cc.
// NOLINTBEGIN(readability-identifier-naming)
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> ProductAt(D d, const double* columns, std::size_t stride,
                                const double* weights, std::size_t terms) {
  auto sum = hn::Mul(hn::Set(d, weights[0]), hn::LoadU(d, columns));
  for (std::size_t c = 1; c < terms; ++c) {
    sum = hn::Add(sum, hn::Mul(hn::Set(d, weights[c]), hn::LoadU(d, columns + c * stride)));
  }
  return sum;
}

template <class D>
HWY_INLINE hn::Vec<D> SquaredLengthAt(D d, const double* columns, std::size_t stride,
                                      const double* triangle, std::size_t dim) {
  auto sum = hn::Zero(d);
  for (std::size_t r = 0; r < dim; ++r) {
    const auto y = ProductAt(d, columns, stride, triangle + r * dim, r + 1);
    sum = hn::Add(sum, hn::Mul(y, y));
  }
  return sum;
}

// <x, weights> + width |T x| for vectors at hand. Where the dimension is known beforehand they stay
// in registers; the operations and their order are those of the functions above.
template <std::size_t kDim, class D>
HWY_INLINE hn::Vec<D> BoundAt(D d, const double* columns, std::size_t stride, const double* weights,
                              const double* triangle, double width) {
  hn::Vec<D> x[kDim];
  for (std::size_t c = 0; c < kDim; ++c) {
    x[c] = hn::LoadU(d, columns + c * stride);
  }
  const auto product = [&](const double* w, std::size_t terms) HWY_ATTR {
    auto sum = hn::Mul(hn::Set(d, w[0]), x[0]);
    for (std::size_t c = 1; c < terms; ++c) {
      sum = hn::Add(sum, hn::Mul(hn::Set(d, w[c]), x[c]));
    }
    return sum;
  };
  auto squared = hn::Zero(d);
  for (std::size_t r = 0; r < kDim; ++r) {
    const auto y = product(triangle + r * kDim, r + 1);
    squared = hn::Add(squared, hn::Mul(y, y));
  }
  return hn::Add(product(weights, kDim), hn::Mul(hn::Set(d, width), hn::Sqrt(squared)));
}

// Calls body(tag, i) for the vectors i, ..., a register at a time, the last ones one by one.
template <class Body>
HWY_INLINE void ForAll(std::size_t count, Body body) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    body(d, i);
  }
  for (; i < count; ++i) {
    body(one, i);
  }
}

void Products(const double* columns, std::size_t count, std::size_t dim, const double* weights,
              double* out) {
  ForAll(count, [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(ProductAt(d, columns + i, count, weights, dim), d, out + i);
  });
}

void SquaredLengths(const double* columns, std::size_t count, std::size_t dim,
                    const double* triangle, double* out) {
  ForAll(count, [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(SquaredLengthAt(d, columns + i, count, triangle, dim), d, out + i);
  });
}

template <std::size_t kDim>
void FixedUpperBounds(const double* columns, std::size_t count, const double* weights,
                      const double* triangle, double width, double cap, double* out) {
  ForAll(count, [&](auto d, std::size_t i) HWY_ATTR {
    const auto bound = BoundAt<kDim>(d, columns + i, count, weights, triangle, width);
    hn::StoreU(hn::Min(bound, hn::Set(d, cap)), d, out + i);
  });
}

void UpperBounds(const double* columns, std::size_t count, std::size_t dim, const double* weights,
                 const double* triangle, double width, double cap, double* out) {
  if (dim == 5) {  // that of the experiments
    FixedUpperBounds<5>(columns, count, weights, triangle, width, cap, out);
    return;
  }
  ForAll(count, [&](auto d, std::size_t i) HWY_ATTR {
    const auto length = hn::Sqrt(SquaredLengthAt(d, columns + i, count, triangle, dim));
    const auto bound =
        hn::Add(ProductAt(d, columns + i, count, weights, dim), hn::Mul(hn::Set(d, width), length));
    hn::StoreU(hn::Min(bound, hn::Set(d, cap)), d, out + i);
  });
}

// NOLINTEND(readability-identifier-naming)
}  // namespace HWY_NAMESPACE
}  // namespace hindsight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hindsight {

HWY_EXPORT(Products);
HWY_EXPORT(SquaredLengths);
HWY_EXPORT(UpperBounds);

VectorSet VectorSet::from_rows(std::span<const double> rows, std::size_t d) {
  HINDSIGHT_CHECK(d > 0 && rows.size() % d == 0);
  VectorSet set(rows.size() / d, d);
  for (std::size_t i = 0; i < set.count; ++i) {
    for (std::size_t c = 0; c < d; ++c) {
      set.at(i, c) = rows[i * d + c];
    }
  }
  return set;
}

std::vector<double> VectorSet::row(std::size_t i) const {
  std::vector<double> x(dim);
  for (std::size_t c = 0; c < dim; ++c) {
    x[c] = at(i, c);
  }
  return x;
}

Result<void> check_vectors(const VectorSet& set) {
  if (set.count == 0 || set.dim == 0) {
    return Error{ErrorCode::kInvalidArgument, "there must be vectors, of at least one dimension",
                 "features"};
  }
  std::vector<double> squared(set.count, 0.0);
  for (std::size_t c = 0; c < set.dim; ++c) {
    for (std::size_t i = 0; i < set.count; ++i) {
      squared[i] += set.at(i, c) * set.at(i, c);
    }
  }
  for (std::size_t i = 0; i < set.count; ++i) {
    const std::string field = "features[" + std::to_string(i) + "]";
    if (!std::isfinite(squared[i])) {
      return Error{ErrorCode::kNotFinite,
                   "features must be finite numbers, not too large to square", field};
    }
    if (squared[i] == 0.0) {
      return Error{ErrorCode::kInvalidArgument, "a vector of zeros says nothing of an item", field};
    }
  }
  return {};
}

void products_of(const VectorSet& set, std::span<const double> weights, std::span<double> out) {
  HINDSIGHT_CHECK(set.dim > 0 && weights.size() == set.dim && out.size() == set.count);
  HWY_DYNAMIC_DISPATCH(Products)
  (set.columns.data(), set.count, set.dim, weights.data(), out.data());
}

void squared_lengths_of(const VectorSet& set, std::span<const double> triangle,
                        std::span<double> out) {
  HINDSIGHT_CHECK(triangle.size() == set.dim * set.dim && out.size() == set.count);
  HWY_DYNAMIC_DISPATCH(SquaredLengths)
  (set.columns.data(), set.count, set.dim, triangle.data(), out.data());
}

void upper_bounds_of(const VectorSet& set, std::span<const double> weights,
                     std::span<const double> triangle, double width, double cap,
                     std::span<double> out) {
  HINDSIGHT_CHECK(set.dim > 0 && weights.size() == set.dim &&
                  triangle.size() == set.dim * set.dim && out.size() == set.count);
  HWY_DYNAMIC_DISPATCH(UpperBounds)
  (set.columns.data(), set.count, set.dim, weights.data(), triangle.data(), width, cap, out.data());
}

}  // namespace hindsight
#endif  // HWY_ONCE
