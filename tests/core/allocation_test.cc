// Counts what the whole test program takes from the heap, to show that some functions take nothing.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <numeric>
#include <vector>

#include "src/core/signal_features.h"

// Sanitizers have a heap, and operators, of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// Every other form of new ends here, but for those with an alignment. noinline: the compiler must
// not pair what it sees of one with what it sees of the other.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* place = std::malloc(size == 0 ? 1 : size)) {
    return place;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t /*size*/) noexcept {
  std::free(place);
}

namespace hindsight {
namespace {

TEST(Allocation, SignalFeaturesOfTenThousandCandidatesTakeNone) {
  constexpr ItemIndex kItems = 10'000;
  constexpr std::uint64_t kSession = 7;
  Signals signals;
  for (ItemIndex i = 0; i < kItems; ++i) {
    signals.item_added(i, 0);
    const std::vector<ItemIndex> links = {i / 2, i / 3};
    signals.set_links(i, links);
  }
  for (ItemIndex t = 0; t < 5000; ++t) {
    signals.picked(t * 37 % kItems, t, 1 + t % 50, 1 + t % 4);
  }
  ASSERT_FALSE(signals.session_picks(kSession).empty());
  std::vector<ItemIndex> items(kItems);
  std::iota(items.begin(), items.end(), 0U);
  std::vector<double> out(kSignalColumns * kItems);
  const std::size_t before = allocations.load();
  signal_features(signals, {.session = kSession, .group = 2}, {}, items, out);
  EXPECT_EQ(allocations.load(), before);
  const std::vector<double> counted(1);
  EXPECT_EQ(allocations.load(), before + 1) << "the count does not count";
}

}  // namespace
}  // namespace hindsight

#endif
