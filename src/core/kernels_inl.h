// What the array kernels share: vectors, the sixteen logical accumulators, and loops over blocks.
// Included once per SIMD target, after highway.h.
//
// Thread-safety: pure functions.

#if defined(HINDSIGHT_CORE_KERNELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_CORE_KERNELS_INL_H
#undef HINDSIGHT_CORE_KERNELS_INL_H
#else
#define HINDSIGHT_CORE_KERNELS_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace hindsight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 16>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());
constexpr std::size_t kAccumulators = 16;
constexpr std::size_t kVectors = kAccumulators / kLanes;  // vectors per block of sixteen

// The upper half of the lanes onto the lower, until one is left.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE double fold_lanes(D /*lanes*/, V v) { return hn::GetLane(v); }
#else
template <class DD>
HWY_INLINE double fold_lanes(DD /*lanes*/, hn::Vec<DD> v) {
  if constexpr (hn::MaxLanes(DD()) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<DD> half;
    return fold_lanes(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

struct Accumulators {
  V v[kVectors];
  Accumulators() {
    for (V& lane : v) {
      lane = hn::Zero(D());
    }
  }
  // One fixed tree: i and i + 8, then i and i + 4, and so on.
  double total() const {
    V sum[kVectors];
    for (std::size_t j = 0; j < kVectors; ++j) {
      sum[j] = v[j];
    }
    for (std::size_t width = kVectors / 2; width > 0; width /= 2) {
      for (std::size_t j = 0; j < width; ++j) {
        sum[j] = hn::Add(sum[j], sum[j + width]);
      }
    }
    return fold_lanes(D(), sum[0]);
  }
};

// Calls body(j, offset) for every vector of every full block of sixteen; RETURNS where the tail
// starts.
template <class Body>
HWY_INLINE std::size_t for_blocks(std::size_t n, Body body) {
  std::size_t i = 0;
  for (; i + kAccumulators <= n; i += kAccumulators) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      body(j, i + j * kLanes);
    }
  }
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight
HWY_AFTER_NAMESPACE();

#endif  // per target
