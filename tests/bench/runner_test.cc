#include "bench/runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>

#include "bench/draw_check.h"
#include "bench/format.h"
#include "bench/simd_sum.h"

namespace hindsight::bench {
namespace {

TEST(Benchmarks, EveryWorkloadHasItsOwnNameAndSize) {
  std::set<std::pair<std::string, std::size_t>> seen;
  for (const Workload& workload : all_workloads()) {
    EXPECT_TRUE(seen.emplace(workload.name, workload.n).second) << workload.name;
    EXPECT_GT(workload.n, 0U);
  }
}

TEST(Benchmarks, SmallWorkloadsRunAndTheirAnswersAreRight) {
  std::size_t calls = 0;
  RunOptions options;
  options.max_n = 10'000;
  options.seconds_per_workload = 0.0;
  options.progress = [&](std::size_t done, std::size_t, const std::string&) {
    EXPECT_EQ(done, calls++);
  };
  const auto rows = run_benchmarks(options);
  ASSERT_TRUE(rows.ok()) << to_string(rows.error());
  EXPECT_EQ(rows->size(), calls);
  for (const Row& row : *rows) {
    EXPECT_GT(row.ns, 0.0) << row.name;
    EXPECT_GT(row.ratio.value(), 0.0) << row.name;
  }
}

TEST(Benchmarks, ANameThatNothingHasIsAnError) {
  RunOptions options;
  options.filter = "draw/top11";
  EXPECT_EQ(run_benchmarks(options).error().code, ErrorCode::kUnknownName);
  options.filter = "draw/top10";
  options.seconds_per_workload = std::nan("");
  EXPECT_EQ(run_benchmarks(options).error().code, ErrorCode::kInvalidArgument);
}

TEST(Benchmarks, WrongAnswersAreFound) {
  const std::vector<float> weights = make_weights(1000);
  DrawCheck repeated(weights, 2);
  repeated.note(std::vector<std::uint32_t>{7, 7});
  EXPECT_FALSE(repeated.verdict().ok());
  DrawCheck short_list(weights, 2);
  short_list.note(std::vector<std::uint32_t>{7});
  EXPECT_FALSE(short_list.verdict().ok());
  DrawCheck uniform(weights, 1);  // as if all weights were equal
  for (std::uint32_t i = 0; i < 1000; ++i) {
    uniform.note(std::vector<std::uint32_t>{i});
  }
  EXPECT_FALSE(uniform.verdict().ok());
}

TEST(Benchmarks, SlopeIsTheExponent) {
  std::vector<Row> rows;
  for (const std::size_t n : {10, 100, 1000, 10'000}) {
    rows.push_back({"x", n, 3.0 * std::pow(static_cast<double>(n), 0.75), {}, {}});
  }
  EXPECT_NEAR(fit_slope(rows), 0.75, 1e-12);
}

TEST(Benchmarks, SumOfAllSizesIsRight) {
  for (const std::size_t n : {0, 1, 7, 127, 128, 129, 5000}) {
    const std::vector<float> ones(n, 1.0F);
    EXPECT_EQ(simd_sum(ones), static_cast<double>(n));
  }
}

TEST(Benchmarks, TableAndJsonSayTheSame) {
  const std::vector<Row> rows = {{"draw/top10", 1'000'000, 68'400.0, 1.37, 1.5},
                                 {"draw/top1", 100, 250.0, 7.5, std::nullopt},
                                 {"tree/top10-click", 10'000'000, 6e6, 1200.0, 1.0}};
  EXPECT_EQ(format_table(rows),
            "name                       n        time     ratio     aim\n"
            "draw/top10           1000000    68.40 us      1.37    1.50  met\n"
            "draw/top1                100      250 ns      7.50        \n"
            "tree/top10-click    10000000     6.00 ms   1200.00    1.00  missed\n");
  EXPECT_EQ(
      format_json(rows),
      R"({"benchmarks":[{"name":"draw/top10","n":1000000,"ns":68400.0,"ratio":1.37,"aim":1.5},)"
      R"({"name":"draw/top1","n":100,"ns":250.0,"ratio":7.5,"aim":null},)"
      R"({"name":"tree/top10-click","n":10000000,"ns":6000000.0,"ratio":1200.0,"aim":1.0}]})");
}

}  // namespace
}  // namespace hindsight::bench
