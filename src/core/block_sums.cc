#include "src/core/block_sums.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/core/block_sums.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hindsight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A value that is used twice is loaded once: g++ would rather read it from memory again, which
// costs a quarter of the speed.
template <class V>
HWY_INLINE void keep_in_register(V& v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL && HWY_TARGET != HWY_SCALAR
  asm("" : "+x"(v.raw));
#else
  (void)v;
#endif
}

// The lanes of a row, in as many vectors as the machine needs for them.
template <class T>
struct Row {
  using D = hn::CappedTag<T, kBlockLanes>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());
  static constexpr std::size_t kVectors = kBlockLanes / kLanes;
  hn::Vec<D> v[kVectors];

  HWY_INLINE void load(const T* from) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      v[j] = hn::LoadU(D(), from + j * kLanes);
      keep_in_register(v[j]);
    }
  }
  HWY_INLINE void clear() {
    for (auto& x : v) {
      x = hn::Zero(D());
    }
  }
  HWY_INLINE void add(const Row& other) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      v[j] = hn::Add(v[j], other.v[j]);
    }
  }
  HWY_INLINE void unite_bits(const Row& other) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      v[j] = hn::Or(v[j], other.v[j]);
    }
  }
};

// s[i] + s[i + N/2] again and again, within one vector.
template <class D>
HWY_INLINE hn::TFromD<D> tree_within(D /*d*/, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    return tree_within(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

template <class T>
HWY_INLINE T tree_of(Row<T> row) {
  for (std::size_t count = Row<T>::kVectors; count > 1; count /= 2) {
    for (std::size_t j = 0; j < count / 2; ++j) {
      row.v[j] = hn::Add(row.v[j], row.v[j + count / 2]);
    }
  }
  return tree_within(typename Row<T>::D(), row.v[0]);
}

// Two chains of rows hide the latency of the additions on the widest vectors (and four do for
// float, which has half as many vectors).
template <class T>
constexpr std::size_t kChains = sizeof(T) == 4 ? 4 : 2;

template <class T>
HWY_INLINE T block_sum(const T* weights, Row<T>* bits) {
  Row<T> chain[kChains<T>];
  for (std::size_t c = 0; c < kChains<T>; ++c) {
    chain[c].load(weights + c * kBlockLanes);
    bits[c].unite_bits(chain[c]);
  }
  for (std::size_t r = kChains<T>; r < kBlockRows; r += kChains<T>) {
    for (std::size_t c = 0; c < kChains<T>; ++c) {
      Row<T> row;
      row.load(weights + (r + c) * kBlockLanes);
      bits[c].unite_bits(row);
      chain[c].add(row);
    }
  }
  for (std::size_t count = kChains<T>; count > 1; count /= 2) {
    for (std::size_t c = 0; c < count / 2; ++c) {
      chain[c].add(chain[c + count / 2]);
    }
  }
  return tree_of(chain[0]);
}

// At most 13 roundings lie between a weight and its block's sum (rows, chains and lanes), each of
// at most 2^-24 of the sum in float: the exact sum is below the rounded one times this.
constexpr double kUpperBound = 1.0 + 0x1p-18;

template <class T>
HWY_INLINE BlockSkip skip(const T* weights, std::size_t blocks, double distance) {
  BlockSkip result{0, distance, 0.0, false};
  Row<T> bits[kChains<T>];
  for (Row<T>& row : bits) {
    row.clear();
  }
  for (; result.passed < blocks; ++result.passed) {
    const double length = static_cast<double>(block_sum(weights, bits)) * kDistancePerWeight<T>;
    const double bound = length * kUpperBound;
    result.total += length;
    if (!(result.left >= bound) || !(bound < HUGE_VAL)) {  // also where the sum is not a number
      break;
    }
    result.left -= bound;
    weights += kBlockSize;
  }
  for (std::size_t c = 1; c < kChains<T>; ++c) {
    bits[0].unite_bits(bits[c]);
  }
  for (const auto& v : bits[0].v) {
    const hn::RebindToSigned<typename Row<T>::D> di;
    result.sign = result.sign || !hn::AllFalse(di, hn::Lt(hn::BitCast(di, v), hn::Zero(di)));
  }
  return result;
}

BlockSkip skip_floats(const float* weights, std::size_t blocks, double distance) {
  return skip(weights, blocks, distance);
}

BlockSkip skip_doubles(const double* weights, std::size_t blocks, double distance) {
  return skip(weights, blocks, distance);
}

template <class Load>
HWY_INLINE void sum_lanes(double* lanes, Load load) {
  using R = Row<double>;
  for (std::size_t j = 0; j < R::kVectors; ++j) {
    auto sum = load(j * R::kLanes);
    for (std::size_t r = 1; r < kBlockRows; ++r) {
      sum = hn::Add(sum, load(r * kBlockLanes + j * R::kLanes));
    }
    hn::StoreU(sum, R::D(), lanes + j * R::kLanes);
  }
}

void lane_sums_float(const float* weights, double* lanes) {
  const Row<double>::D d;
  const hn::Rebind<float, Row<double>::D> df;
  sum_lanes(lanes, [&](std::size_t at) { return hn::PromoteTo(d, hn::LoadU(df, weights + at)); });
}

void lane_sums_double(const double* weights, double* lanes) {
  const Row<double>::D d;
  sum_lanes(lanes, [&](std::size_t at) { return hn::LoadU(d, weights + at); });
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hindsight {

HWY_EXPORT(skip_floats);
HWY_EXPORT(skip_doubles);
HWY_EXPORT(lane_sums_float);
HWY_EXPORT(lane_sums_double);

BlockSkip skip_blocks(const float* weights, std::size_t blocks, double distance) {
  return HWY_DYNAMIC_DISPATCH(skip_floats)(weights, blocks, distance);
}

BlockSkip skip_blocks(const double* weights, std::size_t blocks, double distance) {
  return HWY_DYNAMIC_DISPATCH(skip_doubles)(weights, blocks, distance);
}

void lane_sums(const float* weights, double* lanes) {
  HWY_DYNAMIC_DISPATCH(lane_sums_float)(weights, lanes);
}

void lane_sums(const double* weights, double* lanes) {
  HWY_DYNAMIC_DISPATCH(lane_sums_double)(weights, lanes);
}

}  // namespace hindsight
#endif  // HWY_ONCE
