// The whole server in this process: what takes the engine long keeps nobody else waiting.

#include "src/server/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "src/engine/background.h"
#include "src/engine/engine.h"
#include "tests/server/raw_client.h"
#include "tests/support/temp_folder.h"

namespace hindsight {
namespace {

using ::testing::HasSubstr;

/// The threads of this process.
std::set<int> threads_now() {
  std::set<int> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    all.insert(std::stoi(entry.path().filename().string()));
  }
  return all;
}

/// A server of one thread, with two collections.
class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() {
    before_ = threads_now();
    ServerConfig config;
    config.data = (folder_.path() / "data").string();
    config.port = 0;
    config.threads = 1;
    config.max_wait_ms = 10'000;  // a slow machine refuses nobody
    auto service = Service::start({.config = config, .log = log_});
    EXPECT_TRUE(service.ok()) << to_string(service.error());
    service_ = *std::move(service);
    RawClient client(service_->port());
    for (const char* name : {"books", "films"}) {
      EXPECT_THAT(ask(client, "PUT", name, "{}"), HasSubstr("201"));
    }
  }
  ~ServiceTest() override { stop_looking(); }

  /// Has the engine look at `books` until stop_looking().
  void keep_looking() {
    looking_ = true;
    const auto begun = std::make_shared<std::promise<void>>();
    service_->engine().look("books", [begun, end = end_.get_future().share()](const Result<void>&) {
      begun->set_value();
      end.wait();
    });
    begun->get_future().wait();
  }
  void stop_looking() {
    if (std::exchange(looking_, false)) {
      end_.set_value();
    }
  }
  void send(RawClient& client, const std::string& method, const std::string& path,
            const std::string& body = "") const {
    client.send(method + " /v1/collections/" + path + " HTTP/1.1\r\nHost: h\r\nAuthorization: " +
                "Bearer " + service_->first_key()->text +
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  std::string ask(RawClient& client, const std::string& method, const std::string& path,
                  const std::string& body = "") const {
    send(client, method, path, body);
    return client.read_answer();
  }

  std::set<int> before_;  // threads that are not the server's
  TempFolder folder_;
  const Log log_{{.level = LogLevel::kError, .clock = [] { return std::int64_t{0}; }}};
  std::promise<void> end_;
  bool looking_ = false;
  std::unique_ptr<Service> service_;
};

TEST_F(ServiceTest, WhatTakesTheEngineLongKeepsNobodyElseWaiting) {
  keep_looking();
  RawClient patient(service_->port());
  send(patient, "GET", "films/decisions");
  send(patient, "GET", "films/stats?hash=false");  // on the same connection: in its turn
  RawClient other(service_->port());
  EXPECT_THAT(ask(other, "POST", "films/rank", R"({"candidates":["a","b"]})"), HasSubstr("200 OK"));
  EXPECT_THAT(ask(other, "GET", "books/stats?hash=false"), HasSubstr(R"("clicks")"));
  EXPECT_FALSE(patient.readable(0)) << "the first of its two answers is still to come";
  stop_looking();
  EXPECT_THAT(patient.read_answer(), HasSubstr(R"({"decisions":)"));
  EXPECT_THAT(patient.read_answer(), HasSubstr(R"("clicks")"));
}

TEST_F(ServiceTest, WhoseQuestionIsOneTooManyIsToldWhenToComeAgain) {
  keep_looking();
  for (std::size_t i = 0; i < EngineOptions().max_looks; ++i) {
    service_->engine().look("films", [](const Result<void>&) {});
  }
  RawClient client(service_->port());
  const std::string answer = ask(client, "GET", "films/stats");
  EXPECT_THAT(answer, HasSubstr(" 503 "));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1"));
  stop_looking();
  EXPECT_THAT(ask(client, "GET", "books/stats"), HasSubstr("model_hash"));
}

TEST_F(ServiceTest, OnlyThreadsThatAnswerMayInterruptOthers) {
  if (sched_getscheduler(0) != SCHED_OTHER) {
    GTEST_SKIP() << "this test itself is not scheduled as programs usually are";
  }
  {
    const BackgroundThreads behind;
    if (sched_getscheduler(0) != SCHED_BATCH) {
      GTEST_SKIP() << "this system does not allow threads in the background";
    }
  }
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  std::map<int, int> policies;
  for (const int thread : threads_now()) {
    policies[sched_getscheduler(thread)] += before_.contains(thread) ? 0 : 1;
  }
  EXPECT_EQ(policies[SCHED_OTHER], 1);  // `threads` of the settings
  EXPECT_GE(policies[SCHED_BATCH], 4);  // the store's writer and delivery, the learners
}

}  // namespace
}  // namespace hindsight
