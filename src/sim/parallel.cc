#include "src/sim/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
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

unsigned machine_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace hindsight
