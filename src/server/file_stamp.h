// FileStamp tells versions of a file apart without reading it; LookTimer says when to look again,
// RereadReport tells what came of it.
//
// Thread-safety: stamps and reports are plain values; a LookTimer may be asked from any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "hindsight/result.h"

namespace hindsight {

struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = -1;  // -1: there is no file
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Follows links, so that a file that is replaced behind one is seen, too.
FileStamp stamp_of(const std::filesystem::path& path);

/// Tells what became of a file that is read again and again; the same trouble is told once.
class RereadReport {
 public:
  using Warn = std::function<void(std::string_view)>;

  void tell(const Result<void>& done, const std::string& good, const std::string& otherwise,
            const Warn& warn);

 private:
  std::string trouble_;  // as it was told last
};

/// Due once per period; whoever asks first is told so, the others go on.
class LookTimer {
 public:
  LookTimer(std::int64_t period_ms, std::int64_t now_ms)
      : period_ms_(period_ms), looked_ms_(now_ms) {}

  bool due(std::int64_t now_ms) {
    std::int64_t looked = looked_ms_.load(std::memory_order_relaxed);
    // A clock that was set back must not keep an old version alive.
    const bool now = now_ms - looked >= period_ms_ || now_ms < looked;
    return now && looked_ms_.compare_exchange_strong(looked, now_ms);
  }

 private:
  const std::int64_t period_ms_;
  std::atomic<std::int64_t> looked_ms_;
};

}  // namespace hindsight
