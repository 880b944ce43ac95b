#include "src/sim/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace hindsight {
namespace {

constexpr std::uint64_t kWidth = 30;
constexpr std::chrono::milliseconds kRedraw{100};

}  // namespace

std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total) {
  const double share =
      total == 0 ? 1.0 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kWidth));
  // 100% only when all is done.
  return fmt::format("{}  [{}{}] {:3}%", label, std::string(filled, '#'),
                     std::string(kWidth - filled, '.'), static_cast<int>(share * 100.0));
}

ProgressBar::ProgressBar(std::FILE* stream, std::string label, std::uint64_t total)
    : stream_(stream),
      label_(std::move(label)),
      total_(total),
      enabled_(isatty(fileno(stream)) == 1) {}

ProgressBar::~ProgressBar() {
  if (enabled_) {
    std::fputs("\r\x1b[K", stream_);
    std::fflush(stream_);
  }
}

void ProgressBar::add(std::uint64_t done) {
  const std::uint64_t sum = done_.fetch_add(done) + done;
  if (!enabled_) {
    return;
  }
  // Whoever finds another thread drawing goes back to work.
  const std::unique_lock lock(drawing_, std::try_to_lock);
  const auto now = std::chrono::steady_clock::now();
  if (lock.owns_lock() && now - last_draw_ >= kRedraw) {
    last_draw_ = now;
    draw(sum);
  }
}

void ProgressBar::draw(std::uint64_t done) {
  fmt::print(stream_, "\r\x1b[K{}", progress_line(label_, done, total_));
  std::fflush(stream_);
}

}  // namespace hindsight
