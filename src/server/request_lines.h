// RequestLines: what the log says of requests. Each one is a line of the level debug.
//
// Those that the server failed (5xx) are warnings, but of each kind of error only some each second:
// an overloaded server refuses thousands, and lines about them must not take the time and the disk
// that it lacks. How many were left out is said before the next warning; /metrics counts them all.
//
// Thread-safety: write may be called from any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "src/server/log.h"
#include "src/server/rate_limit.h"
#include "src/server/reply.h"

namespace hindsight {

class RequestLines {
 public:
  /// REQUIRES: `log` outlives it. `clock`: milliseconds since 1970
  RequestLines(const Log& log, std::function<std::int64_t()> clock);

  void write(const AccessRecord& record);

 private:
  const Log& log_;
  std::function<std::int64_t()> clock_;
  RateLimiter warnings_;
  std::atomic<std::int64_t> left_out_ = 0;
};

}  // namespace hindsight
