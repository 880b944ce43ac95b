#include <gtest/gtest.h>

#include <vector>

#include "hindsight/random.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

// Bulk draws of many sizes, each followed by a single one, from a stream whose high words are used.
void expect_fills_equal_single_draws() {
  for (const std::size_t n : {0, 1, 2, 3, 8, 15, 16, 17, 31, 100, 1001}) {
    Rng bulk(0x123456789abcdefULL, 0xfedcba987654321ULL);
    Rng single = bulk;
    std::vector<double> draws(n);
    bulk.fill_uniform_positive(draws);
    for (const double x : draws) {
      ASSERT_EQ(x, single.uniform_positive());
    }
    ASSERT_EQ(bulk.next_u64(), single.next_u64()) << n;
    // Drop the rest of the block on both sides.
    bulk = Rng(9, n);
    bulk.next_u32();
    bulk.fill_exponential(draws);
    single = Rng(9, n);
    single.next_u64();
    single.next_u64();
    for (const double x : draws) {
      ASSERT_EQ(x, single.exponential());
    }
    ASSERT_EQ(bulk.next_u64(), single.next_u64()) << n;
  }
}

TEST(RandomFill, EqualsSingleDrawsUnderEverySimdTarget) {
  for (const std::int64_t target : simd_targets()) {
    restrict_simd_target_for_test(target);
    SCOPED_TRACE(simd_target_name(target));
    expect_fills_equal_single_draws();
  }
  restrict_simd_target_for_test(0);
}

}  // namespace
}  // namespace hindsight
