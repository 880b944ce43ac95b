#include "src/server/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/server/api_fixture.h"
#include "tests/support/temp_folder.h"

namespace hindsight {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class AuditTest : public ApiTest {
 protected:
  void open(std::int64_t max_bytes = std::int64_t{1} << 20) {
    auto log =
        AuditLog::open({.folder = folder_.path(),
                        .clock = [this] { return now_ms_; },
                        .max_bytes = max_bytes,
                        .warn = [this](std::string_view text) { warned_.emplace_back(text); }});
    ASSERT_TRUE(log.ok()) << to_string(log.error());
    log_ = *std::move(log);
  }
  std::vector<std::string> lines(const char* name = "audit.log") const {
    std::ifstream in(folder_.path() / name);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) {
      all.push_back(line);
    }
    return all;
  }

  TempFolder folder_;
  std::int64_t now_ms_ = 1'700'000'000'000;
  std::vector<std::string> warned_;
  std::unique_ptr<AuditLog> log_;
};

TEST_F(AuditTest, ALineSaysWhoWhatAndHowItEnded) {
  open();
  log_->write({.key = "k1",
               .address = "192.0.2.1",
               .route = "DELETE /v1/collections/{c}",
               .collection = "books\n\"x\"",
               .status = 204});
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(lines()[0],
            R"({"time":"2023-11-14T22:13:20.000Z","level":"info","message":"audit","key":"k1",)"
            R"("address":"192.0.2.1","route":"DELETE /v1/collections/{c}",)"
            R"("collection":"books\u000a\"x\"","status":204,"outcome":"done","detail":""})");
  struct stat info = {};
  ASSERT_EQ(::stat((folder_.path() / "audit.log").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(AuditTest, LinesOfBeforeStayAndTheSizeIsBounded) {
  open(1000);
  for (int i = 0; i < 50; ++i) {
    log_->write({.key = "k1", .route = "PUT", .status = 200, .detail = std::to_string(i)});
    if (i == 20) {
      log_.reset();
      open(1000);
    }
  }
  const auto now = lines();
  const auto before = lines("audit.log.1");
  ASSERT_FALSE(now.empty());
  ASSERT_FALSE(before.empty());
  EXPECT_THAT(now.back(), HasSubstr("\"detail\":\"49\""));
  EXPECT_LE(std::filesystem::file_size(folder_.path() / "audit.log"), 1000U);
  EXPECT_LE(std::filesystem::file_size(folder_.path() / "audit.log.1"), 1000U);
  // Together they are the end of the log, without a gap.
  int expected = 50 - static_cast<int>(now.size() + before.size());
  for (const auto* part : {&before, &now}) {
    for (const std::string& line : *part) {
      EXPECT_THAT(line, HasSubstr("\"detail\":\"" + std::to_string(expected++) + "\""));
    }
  }
}

TEST_F(AuditTest, RefusedCallsCannotPushOutWhatWasDone) {
  open();
  for (int i = 0; i < 1000; ++i) {
    log_->write(
        {.key = "nosy", .route = "PUT", .status = 403, .error = "forbidden", .changed = false});
  }
  EXPECT_EQ(lines().size(), 20U);
  log_->write({.key = "nosy", .route = "PUT", .status = 200});
  EXPECT_EQ(lines().size(), 21U);
  now_ms_ += 2000;
  log_->write(
      {.key = "nosy", .route = "PUT", .status = 403, .error = "forbidden", .changed = false});
  EXPECT_EQ(lines().size(), 22U);
}

TEST_F(AuditTest, CallsThatFailedAfterAChangeAreAllWritten) {
  open();
  ApiOptions audited = options();
  audited.audit = log_.get();
  use(audited);
  constexpr int kCalls = 50;
  for (const auto& [code, wanted] :
       {std::pair(ErrorCode::kConflict, kCalls), std::pair(ErrorCode::kIo, kCalls),
        std::pair(ErrorCode::kInternal, kCalls), std::pair(ErrorCode::kNotFound, 20)}) {
    const std::size_t before = lines().size();
    engine.fail_with = Error{code, "a sentence", ""};
    for (int i = 0; i < kCalls; ++i) {
      ask("DELETE", "/v1/collections/books/users/alice");
    }
    EXPECT_EQ(lines().size() - before, static_cast<std::size_t>(wanted)) << error_info(code).name;
  }
  // What stands in the way of another call has changed nothing.
  engine.fail_with = Error{ErrorCode::kConflict, "a sentence", ""};
  const std::size_t before = lines().size();
  ask("PUT", "/v1/collections/books", {.body = "{}"});
  EXPECT_EQ(lines().size(), before) << "its share of this second is used up";
}

TEST_F(AuditTest, WhatCannotBeWrittenIsCountedAndWarnedOf) {
  std::filesystem::create_symlink("/dev/full", folder_.path() / "audit.log");
  open();
  log_->write({.key = "k1", .route = "PUT", .status = 200});
  EXPECT_EQ(log_->written(), 0U);
  EXPECT_EQ(log_->failed(), 1U);
  ASSERT_EQ(warned_.size(), 1U);
  EXPECT_THAT(warned_[0], HasSubstr("the audit log misses a line"));
  std::filesystem::remove(folder_.path() / "audit.log");
  log_->write({.key = "k1", .route = "PUT", .status = 200});
  EXPECT_EQ(log_->written(), 1U);
}

TEST_F(AuditTest, WhereTheFileCannotBeRenamedItGrowsOnWithoutAGap) {
  open(10);  // every line wants a new file
  std::filesystem::create_directories(folder_.path() / "audit.log.1" / "in-the-way");
  for (int i = 0; i < 6; ++i) {
    log_->write({.key = "k1", .route = "PUT", .status = 200});
  }
  EXPECT_EQ(lines().size(), 6U);
  EXPECT_EQ(log_->failed(), 0U);
  ASSERT_EQ(warned_.size(), 1U) << "once";
  EXPECT_THAT(warned_[0], HasSubstr("cannot rename"));
  std::filesystem::remove_all(folder_.path() / "audit.log.1");
  log_->write({.key = "k1", .route = "PUT", .status = 200});
  EXPECT_EQ(lines("audit.log.1").size(), 6U);
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(AuditTest, ATornLineDoesNotSpoilTheNext) {
  std::ofstream(folder_.path() / "audit.log") << R"({"time":"2026-)";
  open();
  log_->write({.key = "k1", .route = "PUT", .status = 200, .detail = "first"});
  log_->write({.key = "k1", .route = "PUT", .status = 200, .detail = "second"});
  const auto all = lines();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], R"({"time":"2026-)");
  EXPECT_THAT(all[1], HasSubstr("first"));
  EXPECT_THAT(all[2], HasSubstr("second"));
}

TEST_F(AuditTest, AdministrativeCallsAreWrittenAndOthersAreNot) {
  open();
  ApiOptions audited = options();
  audited.audit = log_.get();
  use(audited);
  ask("GET", "/v1/collections/books");
  ask("POST", "/v1/collections/books/rank", {.body = R"({"candidates":["a"]})"});
  ask("DELETE", "/v1/collections/books", {.key = "unknown-key"});
  EXPECT_EQ(lines().size(), 0U) << "not administrative, or by nobody";
  ask("PUT", "/v1/collections/new", {.body = "{}"});
  ask("DELETE", "/v1/collections/books/users/very-secret");
  ask("DELETE", "/v1/collections/books", {.key = "rank"});
  ask("DELETE", "/v1/collections/books");
  const auto all = lines();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_THAT(all[0], HasSubstr(R"("key":"id-of-admin","address":"192.0.2.1",)"
                                R"("route":"PUT /v1/collections/{c}","collection":"new")"));
  EXPECT_THAT(all[1], HasSubstr(R"("route":"DELETE /v1/collections/{c}/users/{u}")"));
  EXPECT_THAT(all[2], HasSubstr(R"("key":"id-of-rank")"));
  EXPECT_THAT(all[2], HasSubstr(R"("status":403,"outcome":"forbidden")"));
  EXPECT_THAT(all[3], HasSubstr(R"("outcome":"done")"));
  for (const std::string& line : all) {
    EXPECT_THAT(line, Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace hindsight
