// Rng's bulk draws: Philox4x32-10 on as many counters at once as the machine's vectors hold.

#include <cstddef>
#include <cstdint>

#include "hindsight/random.h"
#include "src/core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/core/random_fill.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hindsight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 16>;
using D64 = hn::RebindToUnsigned<D>;
using V64 = hn::Vec<D64>;
constexpr std::size_t kBlocks = hn::MaxLanes(D());  // Philox blocks at once, one per lane
constexpr std::size_t kDrawsAtOnce = 2 * kBlocks;   // a block makes two doubles

// The 64-bit product of the low halves of the lanes.
HWY_INLINE V64 multiply_low_halves(V64 x, std::uint32_t factor) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(D64(), hn::GetLane(x) * factor);
#else
  const hn::Repartition<std::uint32_t, D64> d32;
  return hn::MulEven(hn::BitCast(d32, x), hn::Set(d32, factor));
#endif
}

// kDrawsAtOnce values of uniform_positive() from blocks `first` and following.
HWY_INLINE void draw_vectors(std::uint64_t first, std::uint64_t stream, std::uint64_t seed,
                             double* out) {
  const D d;
  const D64 d64;
  const hn::RebindToSigned<D> di;
  const V64 low = hn::Set(d64, 0xFFFFFFFFULL);
  const V64 counter = hn::Add(hn::Set(d64, first), hn::Iota(d64, 0));
  // The four words of the counter, each in the low half of its lane.
  V64 c0 = hn::And(counter, low);
  V64 c1 = hn::ShiftRight<32>(counter);
  V64 c2 = hn::Set(d64, stream & 0xFFFFFFFFULL);
  V64 c3 = hn::Set(d64, stream >> 32);
  auto key0 = static_cast<std::uint32_t>(seed);
  auto key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {  // as philox4x32
    const V64 product0 = multiply_low_halves(c0, 0xD2511F53);
    const V64 product1 = multiply_low_halves(c2, 0xCD9E8D57);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), c1), hn::Set(d64, std::uint64_t{key0}));
    c1 = hn::And(product1, low);
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), c3), hn::Set(d64, std::uint64_t{key1}));
    c3 = hn::And(product0, low);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  const auto to_unit = [&](V64 high_word, V64 low_word) {
    const V64 bits = hn::ShiftRight<11>(hn::Or(hn::ShiftLeft<32>(high_word), low_word));
    return hn::Mul(hn::Add(hn::ConvertTo(d, hn::BitCast(di, bits)), hn::Set(d, 1.0)),
                   hn::Set(d, 0x1p-53));
  };
  hn::StoreInterleaved2(to_unit(c0, c1), to_unit(c2, c3), d, out);
}

void fill_uniform_vectors(std::uint64_t first, std::uint64_t stream, std::uint64_t seed,
                          double* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + kDrawsAtOnce <= n; i += kDrawsAtOnce) {
    draw_vectors(first + i / 2, stream, seed, out + i);
  }
  if (i < n) {
    double rest[kDrawsAtOnce];
    draw_vectors(first + i / 2, stream, seed, rest);
    for (std::size_t j = 0; i < n; ++i, ++j) {
      out[i] = rest[j];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hindsight {

HWY_EXPORT(fill_uniform_vectors);

void Rng::fill_uniform_positive(std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(fill_uniform_vectors)(next_block_, stream_, seed_, out.data(), out.size());
  next_block_ += (out.size() + 1) / 2;
  used_ = 4;
  if (out.size() % 2 == 1) {
    // The last block is half used, as after single draws.
    --next_block_;
    refill();
    used_ = 2;
  }
}

void Rng::fill_exponential(std::span<double> out) {
  fill_uniform_positive(out);
  log_of(out, out);
  for (double& x : out) {
    x = 0.0 - x;
  }
}

}  // namespace hindsight
#endif  // HWY_ONCE
