#include "src/sim/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "src/sim/progress.h"

namespace hindsight {
namespace {

TEST(RunJobs, RunsEachJobOnceOnAnyNumberOfThreads) {
  for (const unsigned threads : {1U, 2U, 7U, 200U}) {
    std::vector<std::atomic<int>> times(100);
    run_jobs(times.size(), threads, [&](std::size_t i) { ++times[i]; });
    for (const auto& count : times) {
      EXPECT_EQ(count, 1);
    }
  }
}

TEST(RunJobs, OfNoJobsReturns) {
  run_jobs(0, 3, [](std::size_t) { FAIL(); });
}

TEST(RunJobs, ThrowsWhatAJobHasThrown) {
  for (const unsigned threads : {1U, 4U}) {
    EXPECT_THROW(run_jobs(100, threads,
                          [](std::size_t i) {
                            if (i == 7) {
                              throw std::runtime_error("seven");
                            }
                          }),
                 std::runtime_error);
  }
}

TEST(ProgressBar, ShowsTheShareThatIsDone) {
  EXPECT_EQ(progress_line("cora", 0, 10), "cora  [..............................]   0%");
  EXPECT_EQ(progress_line("cora", 5, 10), "cora  [###############...............]  50%");
  EXPECT_EQ(progress_line("cora", 999, 1000), "cora  [#############################.]  99%");
  EXPECT_EQ(progress_line("cora", 10, 10), "cora  [##############################] 100%");
  EXPECT_EQ(progress_line("cora", 12, 10), "cora  [##############################] 100%");
  EXPECT_EQ(progress_line("cora", 0, 0), "cora  [##############################] 100%");
}

TEST(ProgressBar, IsQuietWhereNobodyWatches) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    ProgressBar bar(file, "cora", 10);
    bar.add(5);
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace hindsight
