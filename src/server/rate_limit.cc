#include "src/server/rate_limit.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <unordered_map>

#include "src/core/check.h"
#include "src/core/planted.h"

namespace hindsight {
namespace {

constexpr std::size_t kShards = 16;
constexpr double kMsPerSecond = 1000.0;
// Threads that look at the clock one after the other may come in another order; beyond that the
// clock was set back.
constexpr std::int64_t kSetBackMs = 1000;
// Ahead of the rate is who has taken more than it gives in this time, or than a handful where that
// is less: users come in clusters. Half of a small burst is as much.
constexpr double kAheadSeconds = 0.02;
constexpr double kHandful = 4.0;

}  // namespace

class RateLimiter::Shard {
 public:
  RateVerdict take(const RateLimitOptions& options, std::string_view who, std::int64_t now_ms,
                   bool unless_ahead) {
    const std::lock_guard lock(mutex_);
    Bucket& bucket = find(options, who, now_ms);
    if (now_ms > bucket.at_ms && !planted(Fault::kNeverRefill)) {
      const double gained =
          static_cast<double>(now_ms - bucket.at_ms) * options.per_second / kMsPerSecond;
      bucket.tokens = std::min(options.burst, bucket.tokens + gained);
      bucket.at_ms = now_ms;
    } else if (now_ms < bucket.at_ms - kSetBackMs) {
      bucket.at_ms = now_ms;  // tokens are gained from here on, not only when it was made up for
    }
    const double usual =
        std::min(options.burst / 2.0, std::max(kHandful, kAheadSeconds * options.per_second));
    const bool ahead = options.burst - bucket.tokens > usual;
    if (bucket.tokens >= 1.0) {
      bucket.tokens -= ahead && unless_ahead ? 0.0 : 1.0;
      return {.wait_ms = 0, .ahead = ahead};
    }
    const double wait_ms = (1.0 - bucket.tokens) / options.per_second * kMsPerSecond;
    return {.wait_ms = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(wait_ms))),
            .ahead = ahead};
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return index_.size();
  }

 private:
  struct Bucket {
    std::string who;
    double tokens;
    std::int64_t at_ms;
  };

  /// The bucket of `who`, now the one used last.
  Bucket& find(const RateLimitOptions& options, std::string_view who, std::int64_t now_ms) {
    if (const auto found = index_.find(who); found != index_.end()) {
      used_.splice(used_.begin(), used_, found->second);
      return used_.front();
    }
    if (index_.size() >= std::max<std::size_t>(1, options.max_buckets / kShards)) {
      index_.erase(used_.back().who);
      used_.pop_back();
    }
    used_.push_front({std::string(who), options.burst, now_ms});
    index_.emplace(used_.front().who, used_.begin());
    return used_.front();
  }

  mutable std::mutex mutex_;
  std::list<Bucket> used_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Bucket>::iterator> index_;  // keys are Bucket::who
};

RateLimiter::RateLimiter(RateLimitOptions options)
    : options_(options), shards_(std::make_unique<Shard[]>(kShards)) {
  HINDSIGHT_CHECK(options_.per_second >= 0.0 && options_.burst >= 1.0);
}

RateLimiter::~RateLimiter() = default;

RateVerdict RateLimiter::take(std::string_view who, std::int64_t now_ms, bool unless_ahead) {
  if (options_.per_second == 0.0 || planted(Fault::kNeverLimitRate)) {
    return {};
  }
  return shards_[std::hash<std::string_view>()(who) % kShards].take(options_, who, now_ms,
                                                                    unless_ahead);
}

std::size_t RateLimiter::buckets() const {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < kShards; ++i) {
    sum += shards_[i].size();
  }
  return sum;
}

std::string address_bucket(std::string_view address) {
  std::string text(address.substr(0, address.find('%')));  // without the zone
  in6_addr wide = {};
  if (inet_pton(AF_INET6, text.c_str(), &wide) != 1) {
    return text;
  }
  std::array<char, INET6_ADDRSTRLEN> out = {};
  if (IN6_IS_ADDR_V4MAPPED(&wide)) {
    return inet_ntop(AF_INET, &wide.s6_addr[12], out.data(), out.size());
  }
  std::memset(&wide.s6_addr[8], 0, 8);
  return std::string(inet_ntop(AF_INET6, &wide, out.data(), out.size())) + "/64";
}

}  // namespace hindsight
