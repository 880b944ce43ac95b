// What the HTTP server does when more comes than it can do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/server/http_server.h"
#include "src/server/lanes.h"
#include "tests/server/raw_client.h"

namespace hindsight {
namespace {

using std::chrono::milliseconds;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// "/a/..." and "/b/..." are lanes of their own, and pay for their memory; "/z/..." is one that is
/// last, "/free" is in none. What ends with "/costly" takes some milliseconds of the thread,
/// "/block" all of it until it is let go; "/long" gets a long answer.
class BusyHandler : public HttpHandler {
 public:
  /// More than the kernel holds for a client that does not read.
  static constexpr std::size_t kLongAnswer = 16'000'000;

  HttpAdmission admit(const HttpRequest& head, const LaneCheck& /*has_time*/) override {
    return {.body_limit = 10'000'000,
            .refused = head.path.ends_with("/refused"),
            .turned_away = head.path.ends_with("/away")      ? TurnedAway::kNoTime
                           : head.path.ends_with("/toomany") ? TurnedAway::kTooMany
                                                             : TurnedAway::kNo,
            .lane = lane_of(head.path),
            .payer = static_cast<std::uint64_t>(head.path[1])};
  }

  void handle(const HttpRequest& request, Respond respond) override {
    if (request.overload != Overload::kNone) {
      return respond({.status = 503, .body = "overload"});
    }
    if (request.path.ends_with("/refused")) {
      return respond({.status = 401, .body = "no " + std::to_string(request.body.size())});
    }
    std::unique_lock lock(mutex_);
    served_ += request.path[1];
    if (request.path.ends_with("/block")) {
      blocked_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return released_; });
    }
    lock.unlock();
    if (request.path.ends_with("/costly")) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    if (request.path.ends_with("/long")) {
      return respond({.body = std::string(kLongAnswer, 'x')});
    }
    respond({.body = "served " + request.peer + " " + std::to_string(request.body.size())});
  }

  /// RETURNS: the first letters of what was served, in this order.
  std::string served() {
    const std::lock_guard lock(mutex_);
    return served_;
  }
  void wait_until_blocked() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return blocked_; });
  }
  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  static std::uint64_t lane_of(std::string_view path) {
    const std::uint64_t lane = Lanes::in_line(static_cast<std::uint64_t>(path[1]) << 1U);
    return path == "/free" ? 0 : path[1] == 'z' ? Lanes::last_in_line(lane) : lane;
  }

  std::mutex mutex_;
  std::string served_;
  std::condition_variable changed_;
  bool blocked_ = false;
  bool released_ = false;
};

class HttpOverload : public ::testing::Test {
 protected:
  void start(HttpServerOptions options = {}) {
    options.port = 0;
    options.threads = 1;
    options.counters = counters_;
    auto server = HttpServer::start(options, handler_);
    ASSERT_TRUE(server.ok()) << to_string(server.error());
    server_ = *std::move(server);
  }
  std::unique_ptr<RawClient> ask(std::string_view path, std::string_view fields = "",
                                 std::string_view body = "") {
    auto client = std::make_unique<RawClient>(server_->port());
    client->send("POST " + std::string(path) +
                 " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
                 std::string(fields) + "\r\n" + std::string(body));
    return client;
  }

  BusyHandler handler_;
  std::shared_ptr<HttpCounters> counters_ = std::make_shared<HttpCounters>();
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpOverload, ALaneThatWouldWaitTooLongIsRefusedAndTheOthersAreServed) {
  start({.max_wait = milliseconds(1)});
  const auto blocker = ask("/a/block");
  handler_.wait_until_blocked();
  std::vector<std::unique_ptr<RawClient>> noisy;
  for (int i = 0; i < 200; ++i) {
    noisy.push_back(ask("/a/costly"));
  }
  const auto quiet = ask("/b/costly");
  const auto free = ask("/free");
  handler_.release();
  // On a machine that is busy with other things even its turn may come too late, but not for long.
  std::string reply = quiet->read_answer();
  for (int again = 0; again < 100 && reply.starts_with("HTTP/1.1 503 "); ++again) {
    std::this_thread::sleep_for(milliseconds(1));
    quiet->send("POST /b/costly HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
    reply = quiet->read_answer();
  }
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(free->read_answer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(blocker->read_answer(), StartsWith("HTTP/1.1 200 "));
  int served = 0;
  int refused = 0;
  for (const auto& client : noisy) {
    const std::string answer = client->read_answer();
    served += answer.starts_with("HTTP/1.1 200 ") ? 1 : 0;
    refused += answer.starts_with("HTTP/1.1 503 ") ? 1 : 0;
  }
  EXPECT_EQ(served + refused, 200);
  EXPECT_GT(served, 0);
  EXPECT_GT(refused, 0);
  // All is well again at once, and the refused connections go on.
  for (const auto& client : noisy) {
    client->send("GET /a/again HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_EQ(counters_->waiting, 0);
}

TEST_F(HttpOverload, AFewAreNeverRefusedWhateverTheyCost) {
  start({.max_wait = milliseconds(1)});
  const auto blocker = ask("/a/block");
  handler_.wait_until_blocked();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 15; ++i) {
    clients.push_back(ask("/a/costly"));
  }
  handler_.release();
  for (int round = 0; round < 4; ++round) {
    for (const auto& client : clients) {
      EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
      client->send("GET /a/costly HTTP/1.1\r\nHost: h\r\n\r\n");
    }
  }
}

TEST_F(HttpOverload, WhoseTurnComesTooLateIsRefusedWhileNewcomersAre) {
  // Nothing is known of the cost yet: some hundreds are let in, and would take a second.
  start({.max_wait = milliseconds(50)});
  const auto blocker = ask("/a/block");
  handler_.wait_until_blocked();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 300; ++i) {
    clients.push_back(ask("/a/costly"));
  }
  std::this_thread::sleep_for(milliseconds(60));  // so that the thread was without a pause for long
  handler_.release();
  int served = 0;
  for (const auto& client : clients) {
    const std::string answer = client->read_answer();
    EXPECT_THAT(answer, AnyOf(StartsWith("HTTP/1.1 200 "), StartsWith("HTTP/1.1 503 ")));
    served += answer.starts_with("HTTP/1.1 200 ") ? 1 : 0;
  }
  EXPECT_GT(served, 0);
  EXPECT_LT(served, 50);
  // The refused connections go on.
  for (const auto& client : clients) {
    client->send("GET /a/again HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_EQ(counters_->waiting, 0);
}

TEST_F(HttpOverload, WhatHasLainInItsSocketForTooLongIsRefusedWhileNewcomersAre) {
  start({.max_wait = milliseconds(200)});
  RawClient teacher(server_->port());  // of what a costly one costs
  for (int i = 0; i < 40; ++i) {
    teacher.send("GET /a/costly HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(teacher.read_answer(), StartsWith("HTTP/1.1 200 "));
  }
  const auto blocker = ask("/c/block");
  handler_.wait_until_blocked();
  std::vector<std::unique_ptr<RawClient>> noisy;
  for (int i = 0; i < 60; ++i) {
    noisy.push_back(ask("/a/costly"));
  }
  std::vector<std::unique_ptr<RawClient>> others;
  for (int i = 0; i < 40; ++i) {
    others.push_back(ask("/b"));  // their lane is short, and they cost nothing
  }
  std::this_thread::sleep_for(milliseconds(400));
  handler_.release();
  int served = 0;
  for (const auto& client : others) {
    const std::string answer = client->read_answer();
    EXPECT_THAT(answer, AnyOf(StartsWith("HTTP/1.1 200 "), StartsWith("HTTP/1.1 503 ")));
    served += answer.starts_with("HTTP/1.1 200 ") ? 1 : 0;
  }
  EXPECT_GT(served, 0) << "whose turn comes next is served, however old";
  EXPECT_LT(served, 20);
  for (const auto& client : noisy) {
    client->read_answer();
  }
  for (const auto& client : others) {
    client->send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
  }
}

TEST_F(HttpOverload, ManyWhoAreTurnedAwayOnOneConnectionAreAllAnswered) {
  start();
  RawClient client(server_->port());
  std::string many;
  for (int i = 0; i < 500; ++i) {
    many += "GET /a/away HTTP/1.1\r\nHost: h\r\n\r\n";
  }
  client.send(many + "GET /a/served HTTP/1.1\r\nHost: h\r\n\r\n");
  for (int i = 0; i < 500; ++i) {
    ASSERT_THAT(client.read_answer(), StartsWith("HTTP/1.1 503 "));
  }
  EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpOverload, EveryAcceptedRequestIsAnsweredInItsOrder) {
  start({.max_wait = milliseconds(60'000)});
  const auto blocker = ask("/a/block");
  handler_.wait_until_blocked();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(ask(i % 2 == 0 ? "/a/costly" : "/b/costly"));
    clients.back()->send("GET /free HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  handler_.release();
  for (const auto& client : clients) {
    EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
  }
}

TEST_F(HttpOverload, WhoIsLastIsServedAfterAllWhoWaitWhoeverCameFirst) {
  start({.max_wait = milliseconds(60'000)});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(ask("/free"));
    EXPECT_THAT(clients.back()->read_answer(), StartsWith("HTTP/1.1 200 "));
  }
  // It is known what they cost: their share of a busy thread is far off.
  for (int i = 0; i < 40; ++i) {
    clients[0]->send("GET /z/costly HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(clients[0]->read_answer(), StartsWith("HTTP/1.1 200 "));
  }
  const auto blocker = ask("/a/block");
  handler_.wait_until_blocked();
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const char* path = i < 20 ? "/z/costly" : i % 2 == 0 ? "/a" : "/b";
    clients[i]->send("GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  handler_.release();
  for (const auto& client : clients) {
    EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
  }
  const std::string order = handler_.served().substr(81);  // after those before and the blocker
  ASSERT_EQ(order.size(), 40U);
  EXPECT_EQ(order.find_first_not_of('z', order.find('z')), std::string::npos) << order;
  EXPECT_EQ(counters_->waiting, 0);
}

TEST_F(HttpOverload, WhoIsLastHasAShareOfAThreadThatIsNeverWithoutWork) {
  start({.max_wait = milliseconds(60'000)});
  std::atomic<bool> ending = false;
  std::vector<std::thread> busy;
  for (int i = 0; i < 6; ++i) {
    busy.emplace_back([&] {
      RawClient client(server_->port());
      while (!ending) {
        client.send("GET /a/costly HTTP/1.1\r\nHost: h\r\n\r\n");
        EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 200 "));
      }
    });
  }
  while (counters_->waiting == 0) {
    std::this_thread::yield();
  }
  const auto last = ask("/z/one");
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(last->read_answer(), StartsWith("HTTP/1.1 200 "));
    last->send("GET /z/again HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  ending = true;
  for (std::thread& one : busy) {
    one.join();
  }
}

TEST_F(HttpOverload, WhoIsLastAndWouldWaitTooLongIsRefused) {
  start({.max_wait = milliseconds(1)});
  const auto blocker = ask("/a/block");
  handler_.wait_until_blocked();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(ask("/z/costly"));
  }
  handler_.release();
  int served = 0;
  for (const auto& client : clients) {
    const std::string answer = client->read_answer();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ") || answer.starts_with("HTTP/1.1 503 "));
    served += answer.starts_with("HTTP/1.1 200 ") ? 1 : 0;
  }
  EXPECT_GT(served, 0);
  EXPECT_LT(served, 200);
  EXPECT_EQ(counters_->waiting, 0);
}

TEST_F(HttpOverload, ARefusedRequestsShortBodyIsReadOverAndTheConnectionGoesOn) {
  start();
  auto client = ask("/a/refused", "", std::string(5000, 'x'));
  const std::string answer = client->read_answer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(answer, EndsWith("no 0")) << "its body is not kept";
  EXPECT_THAT(answer, Not(HasSubstr("Connection: close")));
  client->send("GET /free HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(counters_->body_bytes, 0);
}

TEST_F(HttpOverload, WhoIsTurnedAwayHearsItFromTheServerAndTheConnectionGoesOn) {
  start();
  const auto client = ask("/a/away", "", std::string(5000, 'x'));
  for (int i = 0; i < 3; ++i) {
    const std::string answer = client->read_answer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(answer, HasSubstr("\r\nRetry-After: 1\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\nDate: "));
    EXPECT_THAT(answer, HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(answer, EndsWith("\"message\":\"the server is busy; try again when Retry-After "
                                 "says\"}}"));
    client->send("GET /a/away HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 503 "));
  client->send("GET /a/served HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(counters_->body_bytes, 0);
}

TEST_F(HttpOverload, WhoComesTooFastHearsThatInTheSameWay) {
  start();
  const auto client = ask("/a/toomany", "", std::string(5000, 'x'));
  const std::string answer = client->read_answer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 429 Too Many Requests\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nRetry-After: 1\r\n"));
  EXPECT_THAT(answer, EndsWith("{\"error\":{\"code\":\"rate_limited\",\"message\":\"too many "
                               "requests; wait as Retry-After says\"}}"));
  client->send("GET /a/away HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 503 ")) << "each has its own answer";
  client->send("GET /a/served HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpOverload, WhoIsTurnedAwayAndCannotGoOnIsToldSo) {
  start();
  for (const char* request : {"POST /a/away HTTP/1.1\r\nHost: h\r\nContent-Length: 9000000\r\n\r\n",
                              "GET /a/away HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
                              "GET /a/away HTTP/1.0\r\n\r\n"}) {
    RawClient client(server_->port());
    client.send(request);
    const std::string answer = client.read_all();
    EXPECT_THAT(answer, HasSubstr(" 503 ")) << request;
    EXPECT_THAT(answer, HasSubstr("Connection: close")) << request;
  }
}

TEST_F(HttpOverload, ARefusedRequestsLongBodyIsNotReadAtAll) {
  start();
  for (const char* length : {"Content-Length: 9000000", "Transfer-Encoding: chunked",
                             "Content-Length: 3\r\nExpect: 100-continue"}) {
    RawClient client(server_->port());
    client.send("POST /a/refused HTTP/1.1\r\nHost: h\r\n" + std::string(length) + "\r\n\r\n");
    const std::string answer = client.read_answer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 ")) << length;
    EXPECT_THAT(answer, HasSubstr("Connection: close")) << length;
  }
}

TEST_F(HttpOverload, BodiesTogetherTakeNoMoreMemoryThanAllowed) {
  start({.max_body_bytes = 1'000'000});
  RawClient holder(server_->port());
  holder.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\n" +
              std::string(450'000, 'x'));
  while (counters_->body_bytes < 450'000) {
    std::this_thread::yield();
  }
  EXPECT_THAT(ask("/a", "", std::string(200'000, 'x'))->read_answer(), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(ask("/b", "", std::string(200'000, 'x'))->read_answer(), EndsWith(" 200000"))
      << "others have a share of their own";
  EXPECT_THAT(ask("/a", "", std::string(20'000, 'x'))->read_answer(), EndsWith(" 20000"));
  // A body of unknown length is stopped where the memory ends.
  RawClient chunked(server_->port());
  chunked.send("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 40 && !chunked.readable(0); ++i) {
    chunked.send("2710\r\n" + std::string(10'000, 'x') + "\r\n");
  }
  EXPECT_THAT(chunked.read_answer(), StartsWith("HTTP/1.1 503 "));
  holder.close();
  while (counters_->body_bytes > 0) {
    std::this_thread::yield();
  }
  EXPECT_THAT(ask("/a", "", std::string(450'000, 'x'))->read_answer(), EndsWith(" 450000"));
}

TEST_F(HttpOverload, WhatIsAnnouncedAndNeverSentKeepsNobodyOut) {
  start({.max_body_bytes = 10'000'000});
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 40; ++i) {
    idle.push_back(std::make_unique<RawClient>(server_->port()));
    idle.back()->send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\n[");
  }
  for (const char* path : {"/a", "/b"}) {
    EXPECT_THAT(ask(path, "", std::string(2'000'000, 'x'))->read_answer(), EndsWith(" 2000000"));
  }
}

TEST_F(HttpOverload, LongAnswersThatNobodyReadsTakeNoMoreMemoryThanAllowed) {
  start({.max_body_bytes = 5 * BusyHandler::kLongAnswer});
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 10; ++i) {
    deaf.push_back(ask("/a/long"));
  }
  while (counters_->refused_answers < 7) {  // one payer has no more than half of all at once
    std::this_thread::yield();
  }
  EXPECT_EQ(counters_->body_bytes, 3 * BusyHandler::kLongAnswer);
  const std::string refused = ask("/a/long")->read_answer();
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, HasSubstr("\r\nRetry-After: 1\r\n"));
  EXPECT_THAT(ask("/a")->read_answer(), StartsWith("HTTP/1.1 200 "))
      << "short answers cost nothing";
  EXPECT_GT(ask("/b/long")->read_answer().size(), BusyHandler::kLongAnswer);
  deaf.clear();
  while (counters_->body_bytes > 0) {
    std::this_thread::yield();
  }
  EXPECT_GT(ask("/a/long")->read_answer().size(), BusyHandler::kLongAnswer);
}

TEST_F(HttpOverload, WhoSendsNoRequestMakesRoomWhereConnectionsRunOut) {
  start({.max_connections = 32});
  const auto blocked = ask("/free");
  EXPECT_THAT(blocked->read_answer(), StartsWith("HTTP/1.1 200 "));
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 28; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->send("GET /fr");  // some wait for more, some for their first byte, and one
    if (i % 2 == 0) {                 // for its answer
      clients.back()->send("ee HTTP/1.1\r\nHost: h\r\n\r\n");
      EXPECT_THAT(clients.back()->read_answer(), StartsWith("HTTP/1.1 200 "));
    }
  }
  std::this_thread::sleep_for(milliseconds(1'100));
  blocked->send("GET /a/block HTTP/1.1\r\nHost: h\r\n\r\n");
  handler_.wait_until_blocked();
  handler_.release();
  EXPECT_THAT(blocked->read_answer(), StartsWith("HTTP/1.1 200 "));
  for (int i = 0; i < 20; ++i) {
    clients.push_back(ask("/free"));
    EXPECT_THAT(clients.back()->read_answer(), StartsWith("HTTP/1.1 200 ")) << i;
  }
  EXPECT_GE(counters_->given_up, 15U);
  EXPECT_EQ(counters_->turned_away, 0U);
  blocked->send("GET /free HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(blocked->read_answer(), StartsWith("HTTP/1.1 200 ")) << "who was active stays";
}

TEST_F(HttpOverload, WhoStaysAfterTheLastAnswerMakesRoomAtOnce) {
  start({.max_connections = 32});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->send("JUNK\r\n\r\n");
    EXPECT_THAT(clients.back()->read_answer(), StartsWith("HTTP/1.1 400 ")) << i;
  }
  EXPECT_THAT(ask("/free")->read_answer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_GT(counters_->given_up, 0U);
  EXPECT_EQ(counters_->turned_away, 0U);
}

TEST_F(HttpOverload, EachOfManyNewcomersTakesThePlaceOfAnother) {
  start({.max_connections = 64});  // of which four are kept free
  const auto blocker = ask("/free");
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 58; ++i) {
    idle.push_back(ask("/free"));
    EXPECT_THAT(idle.back()->read_answer(), StartsWith("HTTP/1.1 200 "));
  }
  std::this_thread::sleep_for(milliseconds(1'100));
  EXPECT_THAT(blocker->read_answer(), StartsWith("HTTP/1.1 200 "));
  blocker->send("GET /a/block HTTP/1.1\r\nHost: h\r\n\r\n");
  handler_.wait_until_blocked();
  std::vector<std::unique_ptr<RawClient>> newcomers;
  for (int i = 0; i < 4; ++i) {
    newcomers.push_back(ask("/free"));
  }
  handler_.release();
  for (const auto& client : newcomers) {
    EXPECT_THAT(client->read_answer(), StartsWith("HTTP/1.1 200 "));
  }
  while (server_->connections() > 60) {
    std::this_thread::yield();
  }
  EXPECT_EQ(counters_->given_up, 3U);
}

TEST_F(HttpOverload, AnUploadThatIsBrokenOffGivesItsMemoryBack) {
  start();
  for (int i = 0; i < 20; ++i) {
    RawClient client(server_->port());
    client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5000000\r\n\r\nabc");
  }
  while (server_->connections() > 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(counters_->body_bytes, 0);
}

TEST_F(HttpOverload, ShutdownLetsThoseWhoWaitForTheirTurnFinish) {
  start({.max_wait = milliseconds(60'000)});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(ask("/a/costly"));
    EXPECT_THAT(clients.back()->read_answer(), StartsWith("HTTP/1.1 200 "));
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const char* path = i % 4 == 0 ? "/z/costly" : "/a/costly";
    clients[i]->send("GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  // All have come, and some are still to be served.
  while (handler_.served().size() + static_cast<std::size_t>(counters_->waiting) < 80) {
    std::this_thread::yield();
  }
  EXPECT_GT(counters_->waiting, 0);
  server_->shut_down(milliseconds(60'000));
  for (const auto& client : clients) {
    EXPECT_THAT(client->read_all(), HasSubstr("served"));
  }
  EXPECT_EQ(counters_->waiting, 0);
}

TEST_F(HttpOverload, TheClientsAddressIsTheOneThatTheOptionsFind) {
  start({.client_address = [](const HttpRequest& request) {
    return request.peer + "|" + std::string(request.forwarded_for) + "|" +
           std::string(request.forwarded);
  }});
  const auto client = ask("/free",
                          "X-Forwarded-For: 192.0.2.1\r\nx-forwarded-for: 192.0.2.2\r\n"
                          "Forwarded: for=192.0.2.3\r\n");
  EXPECT_THAT(client->read_answer(),
              EndsWith("served 127.0.0.1|192.0.2.1,192.0.2.2|for=192.0.2.3 0"));
}

}  // namespace
}  // namespace hindsight
