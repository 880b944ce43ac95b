#include "src/engine/cpu_share.h"

#include <chrono>
#include <ctime>
#include <utility>

#include "src/core/check.h"

namespace hindsight {

std::int64_t thread_cpu_ns() {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  timespec used = {};
  HINDSIGHT_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0);
  return used.tv_sec * kNsPerSecond + used.tv_nsec;
}

CpuShare::CpuShare(double share, CpuClock cpu_ns, Sleeper sleeper)
    : idle_per_work_(1.0 / share - 1.0), cpu_ns_(std::move(cpu_ns)), sleeper_(std::move(sleeper)) {
  HINDSIGHT_CHECK(share > 0.0 && share <= 1.0);
}

bool CpuShare::go_on(const std::atomic<bool>& ended) {
  constexpr std::int64_t kPieceNs = 2'000'000;
  const auto over = [&] { return stopped_ || ended; };
  const std::int64_t used = cpu_ns_() - slept_off_ns_;
  if (over() || used < kPieceNs) {
    return !over();
  }
  slept_off_ns_ += used;
  const auto idle = static_cast<std::int64_t>(static_cast<double>(used) * idle_per_work_);
  if (sleeper_) {
    sleeper_(idle);
  } else if (idle > 0) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(idle), over);
  }
  return !over();
}

void CpuShare::wake() {
  // With the lock, so that a sleeper that has just looked does not miss it.
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void CpuShare::stop() {
  stopped_ = true;
  wake();
}

}  // namespace hindsight
