// Rate limits: a bucket of tokens for each key or address.
//
// A bucket holds at most `burst` tokens and gains `per_second` of them; a request takes one, or is
// told how long to wait. Whoever has run ahead of the rate, even within the burst, is told so: on a
// busy server such requests come after all others. The number of buckets is bounded: the one that
// was not used for the longest time makes room, and whoever it belonged to starts with a full one.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hindsight {

struct RateLimitOptions {
  double per_second = 100.0;  // 0: no limit
  double burst = 200.0;       // at least 1
  std::size_t max_buckets = 65'536;
};

/// What a limit says of a request.
struct RateVerdict {
  std::int64_t wait_ms =
      0;               // 0: it may pass; else after how long one may (then no token was taken)
  bool ahead = false;  // those before it came faster than the rate for a while
};

class RateLimiter {
 public:
  explicit RateLimiter(RateLimitOptions options);
  ~RateLimiter();

  /// Takes a token, if there is one; `unless_ahead`: none from who is ahead. Time that goes
  /// backwards counts as standing still, and a clock that was set back goes on from there.
  RateVerdict take(std::string_view who, std::int64_t now_ms, bool unless_ahead = false);

  std::size_t buckets() const;

 private:
  class Shard;
  RateLimitOptions options_;
  std::unique_ptr<Shard[]> shards_;
};

/// RETURNS: which bucket an address belongs to. One subscriber holds a whole /64 of IPv6, so its
/// addresses share one.
std::string address_bucket(std::string_view address);

}  // namespace hindsight
