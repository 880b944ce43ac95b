#include "src/server/request_lines.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>

namespace hindsight {
namespace {

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

AccessRecord answered(int status, std::string_view error = "") {
  AccessRecord record;
  record.status = status;
  record.error = error;
  return record;
}

class RequestLinesTest : public ::testing::Test {
 protected:
  std::string said_of(LogLevel level, const std::function<void(RequestLines&)>& requests) {
    const Log log({.level = level, .clock = [this] { return now_ms_; }});
    RequestLines lines(log, [this] { return now_ms_; });
    ::testing::internal::CaptureStderr();
    requests(lines);
    return ::testing::internal::GetCapturedStderr();
  }

  std::int64_t now_ms_ = 1'700'000'000'000;
};

TEST_F(RequestLinesTest, RefusalsDoNotFloodTheLogAndAreCounted) {
  const std::string text = said_of(LogLevel::kInfo, [this](RequestLines& lines) {
    for (int i = 0; i < 1000; ++i) {
      lines.write(answered(503, "overloaded"));
    }
    lines.write(answered(500, "internal_error"));  // another kind is never lost in them
    lines.write(answered(200));
    now_ms_ += 5000;
    lines.write(answered(503, "overloaded"));
  });
  EXPECT_EQ(count_of(text, "error=overloaded"), 21U);
  EXPECT_EQ(count_of(text, "error=internal_error"), 1U);
  EXPECT_EQ(count_of(text, "left_out=980"), 1U);
  EXPECT_EQ(count_of(text, "status=200"), 0U);
}

TEST_F(RequestLinesTest, EachRequestHasItsLineWhereAllAreWanted) {
  const std::string text = said_of(LogLevel::kDebug, [](RequestLines& lines) {
    for (int i = 0; i < 100; ++i) {
      lines.write(answered(503, "overloaded"));
      lines.write(answered(200));
    }
  });
  EXPECT_EQ(count_of(text, "message=request"), 200U);
  EXPECT_EQ(count_of(text, "level=warning message=request"), 20U);
}

}  // namespace
}  // namespace hindsight
