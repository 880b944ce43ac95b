// ProgressBar: one line that is redrawn on a terminal, and nothing elsewhere.
//
// Thread-safety: add may be called from any thread.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

namespace hindsight {

class ProgressBar {
 public:
  /// Draws on `stream` only if that is a terminal. The stream must outlive the bar.
  ProgressBar(std::FILE* stream, std::string label, std::uint64_t total);
  /// Removes the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void add(std::uint64_t done);

 private:
  void draw(std::uint64_t done);

  std::FILE* stream_;
  std::string label_;
  std::uint64_t total_;
  bool enabled_;
  std::atomic<std::uint64_t> done_{0};
  std::mutex drawing_;
  std::chrono::steady_clock::time_point last_draw_;
};

/// "cora  [#########...........]  45%". `done` beyond `total` counts as all.
std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total);

}  // namespace hindsight
