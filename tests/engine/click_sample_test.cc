#include "src/engine/click_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hindsight {
namespace {

ClickSample sample_of(std::uint64_t clicks, std::uint64_t seed = 7) {
  ClickSample sample;
  for (std::uint64_t i = 1; i <= clicks; ++i) {
    sample.add(seed, 10 + i, static_cast<ItemIndex>(i), 0.5);
  }
  return sample;
}

TEST(ClickSample, HoldsAllClicksWhileTheyAreFew) {
  const ClickSample sample = sample_of(ClickSample::kLimit);
  ASSERT_EQ(sample.clicks().size(), ClickSample::kLimit);
  EXPECT_EQ(sample.seen(), ClickSample::kLimit);
  EXPECT_EQ(sample.oldest(), 11U);
  std::vector<std::uint64_t> numbers;
  for (const SampledClick& click : sample.clicks()) {
    numbers.push_back(click.click);
    EXPECT_EQ(click.decision, 10 + click.click);
    EXPECT_EQ(click.item, click.click);
  }
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(numbers[i], i + 1);
  }
}

TEST(ClickSample, IsUniform) {
  // 50,000 of 200,000: of each tenth 5,000 are expected, with a deviation of 58 (without
  // replacement); beyond 6 of them by chance with probability below 1e-7.
  constexpr std::uint64_t kClicks = 200'000;
  const ClickSample sample = sample_of(kClicks);
  ASSERT_EQ(sample.clicks().size(), ClickSample::kLimit);
  std::vector<int> tenths(10);
  for (const SampledClick& click : sample.clicks()) {
    ++tenths[(click.click - 1) * 10 / kClicks];
  }
  for (const int count : tenths) {
    EXPECT_NEAR(count, 5000, 350);
  }
  EXPECT_EQ(sample.oldest(), 11U) << "of all, not of those in the sample";
}

TEST(ClickSample, TheSmallestKeysAreASampleOfTheirOwn) {
  std::vector<SampledClick> clicks = sample_of(60'000).clicks();
  std::sort(clicks.begin(), clicks.end(), smaller_key);
  double sum = 0.0;
  for (std::size_t i = 0; i < 1000; ++i) {
    sum += static_cast<double>(clicks[i].click) / 60'000.0;
  }
  // Mean of 1,000 uniform numbers: a half, deviation 0.0091; 5 of them.
  EXPECT_NEAR(sum / 1000.0, 0.5, 0.046);
}

TEST(ClickSample, OtherSeedsDrawOthers) {
  const auto same = sample_of(60'000, 7).clicks();
  EXPECT_EQ(sample_of(60'000, 7).clicks(), same);
  EXPECT_NE(sample_of(60'000, 8).clicks(), same);
}

TEST(ClickSample, GoesOnFromBytesAsIfNothingHadHappened) {
  for (const std::uint64_t clicks : {0ULL, 3ULL, 49'999ULL, 50'000ULL, 70'000ULL}) {
    ClickSample sample = sample_of(clicks);
    ByteWriter out;
    sample.save(out);
    ByteReader in(out.bytes());
    ClickSample loaded;
    ASSERT_TRUE(loaded.load(in, 7));
    EXPECT_EQ(in.left(), 0U);
    for (int i = 0; i < 2000; ++i) {
      sample.add(7, 99, 1, 0.25);
      loaded.add(7, 99, 1, 0.25);
    }
    EXPECT_EQ(loaded.seen(), sample.seen());
    EXPECT_EQ(loaded.oldest(), sample.oldest());
    EXPECT_EQ(loaded.clicks(), sample.clicks());
  }
}

TEST(ClickSample, RefusesBytesThatMakeNoSense) {
  ByteWriter out;
  sample_of(3).save(out);
  for (std::size_t cut = 0; cut < out.bytes().size(); ++cut) {
    ByteReader in(std::span(out.bytes()).first(cut));
    EXPECT_FALSE(ClickSample().load(in, 7)) << cut;
  }
}

}  // namespace
}  // namespace hindsight
