#include "src/server/log.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace hindsight {
namespace {

constexpr std::int64_t kTime = 1'700'000'000'123;  // 2023-11-14T22:13:20.123Z

std::string line(LogFormat format, std::string_view value) {
  return format_event(format, {kTime, LogLevel::kInfo, "said", {{"value", value}}});
}

std::string json_value(const std::string& text) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string_view value;
  if (parser.parse(text).get(root) != simdjson::SUCCESS ||
      root["value"].get(value) != simdjson::SUCCESS) {
    return "NOT JSON: " + text;
  }
  return std::string(value);
}

TEST(Log, AnEventIsOneLineOfPairs) {
  EXPECT_EQ(
      format_event(LogFormat::kLogfmt,
                   {kTime,
                    LogLevel::kWarning,
                    "the disk is slow",
                    {{"route", "/v1/x"}, {"ms", std::int64_t{12}}, {"ratio", 0.5}, {"ok", true}}}),
      "time=2023-11-14T22:13:20.123Z level=warning message=\"the disk is slow\" route=/v1/x "
      "ms=12 ratio=0.5 ok=true");
}

TEST(Log, AnEventIsOneJsonObject) {
  EXPECT_EQ(
      format_event(LogFormat::kJson, {kTime, LogLevel::kError, "x", {{"n", std::int64_t{-1}}}}),
      R"({"time":"2023-11-14T22:13:20.123Z","level":"error","message":"x","n":-1})");
}

TEST(Log, LinesCannotBeForged) {
  EXPECT_EQ(line(LogFormat::kLogfmt, "a\nlevel=error"),
            "time=2023-11-14T22:13:20.123Z level=info message=said value=\"a\\u000alevel=error\"");
  EXPECT_EQ(line(LogFormat::kLogfmt, "a\" b=\"c"),
            R"(time=2023-11-14T22:13:20.123Z level=info message=said value="a\" b=\"c")");
}

TEST(Log, GoodTextSurvivesJson) {
  for (const std::string text :
       {"", "plain", "quo\"te \\ back", "gr\xC3\xBC\xC3\x9F", "\xF0\x9F\x98\x80"}) {
    EXPECT_EQ(json_value(line(LogFormat::kJson, text)), text);
  }
}

TEST(Log, BrokenUtf8IsShownByteByByte) {
  EXPECT_EQ(json_value(line(LogFormat::kJson,
                            "a\xFF"
                            "b")),
            "a\\xffb");
  for (const std::string text : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80",
                                 "\xC3", "\xE2\x82", "\x80"}) {
    EXPECT_EQ(json_value(line(LogFormat::kJson, text)).substr(0, 2), "\\x");
  }
}

TEST(Log, LongValuesAreCut) {
  EXPECT_LT(line(LogFormat::kLogfmt, std::string(100'000, 'x')).size(), 2'000u);
}

RC_GTEST_PROP(Log, NoInputLeavesControlCharactersOrBreaksJson, (const std::string& text)) {
  for (const LogFormat format : {LogFormat::kJson, LogFormat::kLogfmt}) {
    const std::string out = line(format, text);
    RC_ASSERT(std::none_of(out.begin(), out.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    }));
  }
  RC_ASSERT(json_value(line(LogFormat::kJson, text)).find("NOT JSON") == std::string::npos);
}

TEST(Log, WhatIsBelowTheLevelIsDropped) {
  const Log log({.level = LogLevel::kWarning, .clock = [] { return kTime; }});
  ::testing::internal::CaptureStderr();
  log.write(LogLevel::kInfo, "quiet");
  log.write(LogLevel::kError, "loud", {{"a", std::int64_t{1}}});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "time=2023-11-14T22:13:20.123Z level=error message=loud a=1\n");
}

TEST(Log, LinesOfManyThreadsStayWhole) {
  const Log log({.clock = [] { return kTime; }});
  ::testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&log] {
      for (int i = 0; i < 50; ++i) {
        log.write(LogLevel::kInfo, "event");
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const std::string all = ::testing::internal::GetCapturedStderr();
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    expected += "time=2023-11-14T22:13:20.123Z level=info message=event\n";
  }
  EXPECT_EQ(all, expected);
}

TEST(Log, LevelsHaveNames) {
  EXPECT_EQ(parse_log_level("debug"), LogLevel::kDebug);
  EXPECT_EQ(parse_log_level("error"), LogLevel::kError);
  EXPECT_EQ(parse_log_level("Error"), std::nullopt);
}

}  // namespace
}  // namespace hindsight
