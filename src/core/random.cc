#include "hindsight/random.h"

#include <cmath>

#include "src/core/check.h"
#include "src/core/det_math.h"

namespace hindsight {
namespace {

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

Rng Rng::for_decision(std::uint64_t collection_seed, const DecisionId& id) {
  const auto derived =
      philox4x32({low(id.counter), high(id.counter), low(id.source), high(id.source)},
                 {low(collection_seed), high(collection_seed)});
  return Rng((std::uint64_t{derived[0]} << 32) | derived[1],
             (std::uint64_t{derived[2]} << 32) | derived[3]);
}

void Rng::refill() {
  block_ = philox4x32({low(next_block_), high(next_block_), low(stream_), high(stream_)},
                      {low(seed_), high(seed_)});
  ++next_block_;
  used_ = 0;
}

double Rng::exponential() { return -det_log(uniform_positive()); }

double Rng::normal() {
  while (true) {
    const double x = 2.0 * uniform() - 1.0;
    const double y = 2.0 * uniform() - 1.0;
    const double square = x * x + y * y;
    if (square > 0.0 && square < 1.0) {
      return x * std::sqrt(-2.0 * det_log(square) / square);
    }
  }
}

std::uint64_t Rng::below(std::uint64_t n) {
  HINDSIGHT_CHECK(n > 0);
  if (n == 1) {
    return 0;
  }
  // Rejection on the smallest covering power of two: unbiased, fewer than two tries on average.
  const int bits = 64 - __builtin_clzll(n - 1);
  while (true) {
    const std::uint64_t draw =
        bits <= 32 ? std::uint64_t{next_u32()} >> (32 - bits) : next_u64() >> (64 - bits);
    if (draw < n) {
      return draw;
    }
  }
}

}  // namespace hindsight
