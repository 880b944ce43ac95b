#include "src/engine/curves.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hindsight {
namespace {

CurvePoint point_at(std::uint64_t clicks, std::uint64_t era = 0) {
  CurvePoint point;
  point.era = era;
  point.position = 3 * clicks;
  point.time_ms = static_cast<std::int64_t>(clicks);
  point.cost = RegretSummary{.clicks = clicks, .learned_cost = 0.5 * static_cast<double>(clicks)};
  point.ranker_arm.clicks = clicks;
  return point;
}

CurvePoint measured_at(std::uint64_t clicks, std::uint64_t era = 0) {
  CurvePoint point = point_at(clicks, era);
  point.hindsight = Hindsight{.cost = 0.25 * static_cast<double>(clicks), .sample = clicks};
  return point;
}

Curves curves_of(std::uint64_t clicks, std::uint64_t measured) {
  Curves curves;
  for (std::uint64_t i = 1; i <= clicks; ++i) {
    if (curves.wants(i)) {
      curves.add(point_at(i));
    }
  }
  for (std::uint64_t i = 1; i <= measured; ++i) {
    curves.add_measured(measured_at(i * clicks / measured));
  }
  return curves;
}

TEST(Curves, StaySmallAndEvenlySpaced) {
  const Curves curves = curves_of(100'000, 0);
  const auto points = curves.pick(10'000);
  EXPECT_LE(points.size(), Curves::kLimit);
  EXPECT_GE(points.size(), Curves::kLimit / 4);
  const std::uint64_t stride = points[1].cost->clicks - points[0].cost->clicks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].cost->clicks, (i + 1) * stride);
  }
}

TEST(Curves, MeasuredPointsAreThinnedAndTheLastOneStays) {
  const Curves curves = curves_of(5000, 5000);
  EXPECT_EQ(curves.last_measured(0)->cost->clicks, 5000U);
  EXPECT_EQ(curves.last_measured(1), nullptr);
  EXPECT_LE(curves.memory_bytes(), 4 * Curves::kLimit * sizeof(CurvePoint));
}

TEST(Curves, PickTakesOfBothKindsInTheirOrder) {
  const Curves curves = curves_of(600, 40);
  for (const std::size_t wanted : {0UL, 1UL, 2UL, 9UL, 60UL, 100UL, 640UL, 5000UL}) {
    const auto points = curves.pick(wanted);
    EXPECT_EQ(points.size(), std::min<std::size_t>(wanted, 640));
    EXPECT_TRUE(std::is_sorted(
        points.begin(), points.end(),
        [](const CurvePoint& a, const CurvePoint& b) { return a.position < b.position; }));
    const auto measured = static_cast<std::size_t>(
        std::count_if(points.begin(), points.end(),
                      [](const CurvePoint& point) { return point.hindsight.has_value(); }));
    EXPECT_EQ(measured, std::min<std::size_t>(40, (wanted + 1) / 2));
    if (wanted > 0) {
      EXPECT_TRUE(std::any_of(points.begin(), points.end(), [](const CurvePoint& point) {
        return point.hindsight && point.cost->clicks == 600;
      })) << "the last one measured";
    }
  }
  EXPECT_EQ(curves_of(0, 0).pick(5).size(), 0U);
}

TEST(Curves, AnEraHasItsOwnPoints) {
  Curves curves = curves_of(10, 2);
  curves.add_measured(measured_at(4, 1));
  curves.set_era(1);
  EXPECT_EQ(curves.last_measured(0)->cost->clicks, 10U);
  EXPECT_EQ(curves.last_measured(1)->cost->clicks, 4U);
  for (const CurvePoint& point : curves.pick(100)) {
    EXPECT_TRUE(point.hindsight || point.era == 1);
  }
}

TEST(Curves, SurviveSavingAndRefuseDamage) {
  Curves curves = curves_of(2000, 3);
  CurvePoint bare;  // of a ranker without a bound
  bare.ranker_arm.clicks = 2048;
  bare.expert_weights = {0.25F, 0.75F};
  curves.add(bare);
  ByteWriter out;
  curves.save(out);
  ByteReader in(out.bytes());
  Curves loaded;
  ASSERT_TRUE(loaded.load(in, true));
  EXPECT_EQ(in.left(), 0U);
  EXPECT_EQ(loaded.pick(10'000), curves.pick(10'000));
  for (std::uint64_t i = 2049; i < 2100; ++i) {
    EXPECT_EQ(loaded.wants(i), curves.wants(i));
  }
  for (std::size_t cut = 0; cut < out.bytes().size(); cut += 997) {
    ByteReader shorter(std::span(out.bytes()).first(cut));
    EXPECT_FALSE(Curves().load(shorter, true)) << cut;
  }
}

}  // namespace
}  // namespace hindsight
