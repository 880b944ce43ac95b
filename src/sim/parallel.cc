#include "src/sim/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/core/check.h"

namespace hindsight {

void run_jobs(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& job) {
  HINDSIGHT_CHECK(threads >= 1);
  std::atomic<std::size_t> next{0};
  std::mutex failing;
  std::exception_ptr failure;  // the first
  const auto work = [&] {
    try {
      for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
        job(i);
      }
    } catch (...) {
      next = count;  // nobody begins another one
      const std::lock_guard lock(failing);
      failure = failure ? failure : std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) {
      others.emplace_back(work);
    }
    work();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

Result<void> check_runs_and_threads(std::uint32_t runs, std::uint32_t threads) {
  constexpr std::uint32_t kMaxRuns = 10'000;
  constexpr std::uint32_t kMaxThreads = 1024;
  const auto refused = [](std::uint32_t most, const char* field) {
    return Error{ErrorCode::kInvalidArgument, "must be 1 to " + std::to_string(most), field};
  };
  if (runs < 1 || runs > kMaxRuns) {
    return refused(kMaxRuns, "runs");
  }
  if (threads < 1 || threads > kMaxThreads) {
    return refused(kMaxThreads, "threads");
  }
  return {};
}

unsigned machine_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace hindsight
