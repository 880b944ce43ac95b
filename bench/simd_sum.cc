#include "bench/simd_sum.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/simd_sum.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hindsight::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

double sum_vectors(const float* x, std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kChains = 8;
  hn::Vec<decltype(d)> sum[kChains];
  for (auto& s : sum) {
    s = hn::Zero(d);
  }
  std::size_t i = 0;
  for (; i + kChains * lanes <= n; i += kChains * lanes) {
    for (std::size_t j = 0; j < kChains; ++j) {
      sum[j] = hn::Add(sum[j], hn::LoadU(d, x + i + j * lanes));
    }
  }
  for (std::size_t j = 1; j < kChains; ++j) {
    sum[0] = hn::Add(sum[0], sum[j]);
  }
  auto total = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum[0])));
  for (; i < n; ++i) {
    total += static_cast<double>(x[i]);
  }
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hindsight::bench {

HWY_EXPORT(sum_vectors);

double simd_sum(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(sum_vectors)(x.data(), x.size());
}

}  // namespace hindsight::bench
#endif  // HWY_ONCE
