#include "src/core/context_terms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hindsight {
namespace {

// The slots are part of saved models.
TEST(ContextTerms, SlotsNeverChange) {
  EXPECT_EQ(context_slot(1, 0, 65536), 15470U);
  EXPECT_EQ(context_slot(0xFFFFFFFFFFFFFFFF, 123456789, kMaxContextTerms), 1279389U);
  EXPECT_EQ(context_slot(42, 7, 1000), 782U);
}

// Keys and items that count up, as they do, fill the slots like random ones would: chi-squared of
// 10^6 pairs over 1,000 slots has mean 999 and deviation 45; five of them are a false alarm of 1e-6
// for a random hash.
TEST(ContextTerms, CountingKeysAndItemsFillTheSlotsEvenly) {
  constexpr std::size_t kSlots = 1000;
  for (const std::uint64_t stride : {std::uint64_t{1}, std::uint64_t{1} << 32}) {
    std::vector<double> count(kSlots, 0.0);
    for (std::uint64_t key = 1; key <= 1000; ++key) {
      for (ItemIndex item = 0; item < 1000; ++item) {
        count[context_slot(key * stride, item, kSlots)] += 1.0;
      }
    }
    double chi_squared = 0.0;
    for (const double c : count) {
      chi_squared += (c - 1000.0) * (c - 1000.0) / 1000.0;
    }
    EXPECT_NEAR(chi_squared, 999.0, 5 * std::sqrt(2 * 999.0)) << stride;
  }
}

TEST(ContextTerms, TheLongerVectorStaysWithinTheBound) {
  for (const double bound : {1e-3, 0.5, 1.0, 3.0, 1e3, 1e6}) {
    EXPECT_LE(context_factor(bound) * std::sqrt(bound * bound + 1.0), bound * (1 + 1e-15));
    EXPECT_GT(context_factor(bound), 0.0);
  }
}

}  // namespace
}  // namespace hindsight
