#include "src/core/row_kernels.h"

#include <cstddef>
#include <cstdint>

#include "src/core/check.h"
#include "src/core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/core/row_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "src/core/kernels_inl.h"

HWY_BEFORE_NAMESPACE();
namespace hindsight {
namespace HWY_NAMESPACE {
// NOLINTBEGIN(readability-identifier-naming)

// The first n lanes, and zero in the others. REQUIRES: n < kLanes
HWY_INLINE V load_first(const double* x, std::size_t n) {
  const D d;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return hn::MaskedLoad(hn::FirstN(d, n), d, x);  // reads nothing beyond them
#else
  HWY_ALIGN double lanes[kLanes] = {};
  for (std::size_t i = 0; i < n; ++i) {
    lanes[i] = x[i];
  }
  return hn::Load(d, lanes);
#endif
}

HWY_INLINE double inner_product(const double* x, const double* y, std::size_t n) {
  const D d;
  Accumulators acc;
  const std::size_t tail = for_blocks(n, [&](std::size_t j, std::size_t at) {
    acc.v[j] = hn::Add(acc.v[j], hn::Mul(hn::LoadU(d, x + at), hn::LoadU(d, y + at)));
  });
  for (std::size_t j = 0; j < kVectors; ++j) {
    const std::size_t at = tail + j * kLanes;
    if (at + kLanes <= n) {
      acc.v[j] = hn::Add(acc.v[j], hn::Mul(hn::LoadU(d, x + at), hn::LoadU(d, y + at)));
    } else if (at < n) {
      acc.v[j] = hn::Add(acc.v[j], hn::Mul(load_first(x + at, n - at), load_first(y + at, n - at)));
    }
  }
  return acc.total();
}

double Dot(const double* x, const double* y, std::size_t n) { return inner_product(x, y, n); }

void DotRows(const double* rows, std::size_t stride, const double* y, std::size_t n, double* out,
             std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = inner_product(rows + i * stride, y, n);
  }
}

// The place of a word is the number of those below it: no branch depends on the words.
void SortFew(std::uint64_t* words, std::size_t n) {
  const hn::RebindToUnsigned<D> d;
  HWY_ALIGN std::uint64_t copy[kFewWords];
  HWY_ALIGN std::uint64_t place[kFewWords];
  for (std::size_t i = 0; i < n; ++i) {
    copy[i] = words[i];
  }
  for (std::size_t i = n; i < (n + kLanes - 1) / kLanes * kLanes; ++i) {
    copy[i] = 0;
  }
  for (std::size_t i = 0; i < n; i += kLanes) {
    const auto mine = hn::Load(d, copy + i);
    auto below = hn::Zero(d);
    for (std::size_t j = 0; j < n; ++j) {  // all bits set is -1
      below = hn::Sub(below, hn::VecFromMask(d, hn::Lt(hn::Set(d, copy[j]), mine)));
    }
    hn::Store(below, d, place + i);
  }
  for (std::size_t i = 0; i < n; ++i) {
    words[place[i]] = copy[i];
  }
}

// NOLINTEND(readability-identifier-naming)
}  // namespace HWY_NAMESPACE
}  // namespace hindsight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hindsight {

HWY_EXPORT(Dot);
HWY_EXPORT(DotRows);
HWY_EXPORT(SortFew);

double dot(std::span<const double> x, std::span<const double> y) {
  HINDSIGHT_CHECK(x.size() == y.size());
  return HWY_DYNAMIC_DISPATCH(Dot)(x.data(), y.data(), x.size());
}

void dot_rows(std::span<const double> rows, std::size_t stride, std::span<const double> y,
              std::span<double> out) {
  HINDSIGHT_CHECK(y.size() <= stride && rows.size() == out.size() * stride);
  HWY_DYNAMIC_DISPATCH(DotRows)
  (rows.data(), stride, y.data(), y.size(), out.data(), out.size());
}

void sort_few(std::span<std::uint64_t> words) {
  HINDSIGHT_CHECK(words.size() <= kFewWords);
  HWY_DYNAMIC_DISPATCH(SortFew)(words.data(), words.size());
}

}  // namespace hindsight
#endif  // HWY_ONCE
