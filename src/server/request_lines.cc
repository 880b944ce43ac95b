#include "src/server/request_lines.h"

#include <utility>

namespace hindsight {
namespace {

constexpr int kFault = 500;  // what is above is a refusal
// For each code of an error; there are few.
constexpr RateLimitOptions kWarnings = {.per_second = 1.0, .burst = 20.0, .max_buckets = 64};

void write_line(const Log& log, LogLevel level, const AccessRecord& record) {
  log.write(level, "request",
            {{"method", record.method},
             {"route", record.route},
             {"status", std::int64_t{record.status}},
             {"error", record.error},
             {"seconds", record.seconds},
             {"key", record.key},
             {"peer", record.peer},
             {"detail", record.detail}});
}

}  // namespace

RequestLines::RequestLines(const Log& log, std::function<std::int64_t()> clock)
    : log_(log), clock_(std::move(clock)), warnings_(kWarnings) {}

void RequestLines::write(const AccessRecord& record) {
  if (record.status < kFault) {
    write_line(log_, LogLevel::kDebug, record);
    return;
  }
  if (warnings_.take(record.error, clock_()).wait_ms > 0) {
    left_out_.fetch_add(1, std::memory_order_relaxed);
    write_line(log_, LogLevel::kDebug, record);
    return;
  }
  if (const std::int64_t count = left_out_.exchange(0); count > 0) {
    log_.write(LogLevel::kWarning, "more requests failed than have a line here",
               {{"left_out", count}});
  }
  // Refusals are for the client to mind; a fault of the program is for the operator.
  write_line(log_, record.status == kFault ? LogLevel::kError : LogLevel::kWarning, record);
}

}  // namespace hindsight
