// Rate limits: a bucket of tokens for each key or address.
//
// A bucket holds at most `burst` tokens and gains `per_second` of them; a request takes one, or is
// told how long to wait. The number of buckets is bounded: the one that was not used for the
// longest time makes room, and whoever it belonged to starts with a full one.
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

class RateLimiter {
 public:
  explicit RateLimiter(RateLimitOptions options);
  ~RateLimiter();

  /// Takes a token. RETURNS: 0, or after how many milliseconds there will be one (then none was
  /// taken). Time that goes backwards counts as standing still.
  std::int64_t take(std::string_view who, std::int64_t now_ms);

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
