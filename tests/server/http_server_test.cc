#include "src/server/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/raw_client.h"

namespace hindsight {
namespace {

using std::chrono::milliseconds;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr milliseconds kLong{60'000};
constexpr std::size_t kLimit = 1000;

std::string path_of(int number) { return std::string("/").append(std::to_string(number)); }

/// Counts to three, then ends; or never ends.
class Counter : public HttpStream {
 public:
  explicit Counter(int last) : last_(last) { period = milliseconds(1); }
  std::optional<std::string> next() override {
    if (last_ > 0 && at_ == last_) {
      return std::nullopt;
    }
    return std::string("data: ").append(std::to_string(++at_)).append("\n\n");
  }

 private:
  int last_;
  int at_ = 0;
};

/// Answers by the path; holds answers back until it is told to give them.
class FakeHandler : public HttpHandler {
 public:
  HttpAdmission admit(const HttpRequest& head, const LaneCheck& /*has_time*/) override {
    const std::string_view path = head.path;
    return {.body_limit = path == "/large" ? 1'000'000 : kLimit,
            .refused = path == "/refused",
            .lane = path == "/free" ? 0U : 1U};
  }

  void handle(const HttpRequest& request, Respond respond) override {
    HttpResponse response;
    if (request.path == "/held") {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(respond));
      arrived_.notify_all();
      return;
    }
    if (request.path == "/lost") {
      return;
    }
    if (request.path == "/throws") {
      throw std::runtime_error("a library under the handler has failed");
    }
    if (request.path == "/stream" || request.path == "/endless") {
      response.content_type = "text/event-stream";
      response.stream = std::make_unique<Counter>(request.path == "/stream" ? 3 : 0);
    } else if (request.path == "/policy") {
      response.headers = {{"Content-Security-Policy", "default-src 'self'"}, {"X-Own", "yes"}};
    } else if (request.path == "/split") {
      response.headers = {{"X-Echo", "a\r\nX-Evil: 1"}};
    } else if (request.path == "/nothing") {
      response.status = 204;
    } else {
      response.body = std::string(request.method) + " " + std::string(request.path) + " [" +
                      std::string(request.query) + "] [" + std::string(request.authorization) +
                      "] " + request.peer + " " +
                      (request.body.size() < 100 ? std::string(request.body)
                                                 : std::to_string(request.body.size()));
    }
    respond(std::move(response));
  }

  Respond next_held() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !held_.empty(); });
    Respond respond = std::move(held_.back());
    held_.pop_back();
    return respond;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Respond> held_;
};

class Http : public ::testing::Test {
 protected:
  void start(HttpServerOptions options = {}) {
    options.port = 0;
    options.threads = options.threads == 0 ? 2 : options.threads;
    auto server = HttpServer::start(options, handler_);
    ASSERT_TRUE(server.ok()) << to_string(server.error());
    server_ = *std::move(server);
  }
  /// What comes back for some bytes, up to the end of the connection.
  std::string all_for(std::string_view bytes) {
    RawClient client(server_->port());
    client.send(bytes);
    return client.read_all();
  }
  static std::string get(std::string_view path, std::string_view fields = "") {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
  }
  static std::string post(std::string_view path, std::string_view body) {
    return "POST " + std::string(path) +
           " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           std::string(body);
  }

  FakeHandler handler_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(Http, RequestsReachTheHandlerInParts) {
  start();
  RawClient client(server_->port());
  client.send(get("/a%20b?x=1&y=2", "Authorization: Bearer k\r\n"));
  EXPECT_THAT(client.read_answer(), EndsWith("\r\n\r\nGET /a%20b [x=1&y=2] [Bearer k] 127.0.0.1 "));
  client.send(post("/p", "hello"));
  EXPECT_THAT(client.read_answer(), EndsWith("POST /p [] [] 127.0.0.1 hello"));
}

TEST_F(Http, EveryAnswerHasTheSafeFields) {
  start();
  const std::string ours = all_for(get("/", "Connection: close\r\n"));
  const std::string refused = all_for("nonsense\r\n\r\n");
  for (const std::string& answer : {ours, refused}) {
    for (const char* field :
         {"Content-Length: ", "Date: ", "Content-Type: application/json\r\n",
          "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n",
          "X-Content-Type-Options: nosniff\r\n", "Cache-Control: no-store\r\n",
          "Referrer-Policy: no-referrer\r\n", "Connection: close\r\n"}) {
      EXPECT_THAT(answer, HasSubstr(field));
    }
  }
}

TEST_F(Http, AHandlerMayReplaceASafeFieldAndAddOthers) {
  start();
  const std::string answer = all_for(get("/policy", "Connection: close\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Security-Policy: default-src 'self'\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("'none'")));
  EXPECT_THAT(answer, HasSubstr("X-Own: yes\r\n"));
}

TEST_F(Http, AValueWithALineBreakIsNotSent) {
  start();
  EXPECT_THAT(all_for(get("/split", "Connection: close\r\n")), Not(HasSubstr("X-Evil")));
}

TEST_F(Http, ConnectionsAreKeptAlive) {
  start();
  RawClient client(server_->port());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(client.send(get(path_of(i))));
    ASSERT_THAT(client.read_answer(), HasSubstr(path_of(i) + " "));
  }
  EXPECT_EQ(server_->connections(), 1);
}

TEST_F(Http, OldClientsAreClosedUnlessTheyAskToStay) {
  start();
  EXPECT_THAT(all_for("GET /old HTTP/1.0\r\n\r\n"), HasSubstr("GET /old"));
  RawClient client(server_->port());
  for (int i = 0; i < 2; ++i) {
    client.send("GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_THAT(client.read_answer(), HasSubstr("GET /old"));
  }
}

TEST_F(Http, PipelinedRequestsAreAnsweredInOrder) {
  start();
  RawClient client(server_->port());
  std::string all;
  for (int i = 0; i < 50; ++i) {
    all += i % 2 == 0 ? get(path_of(i)) : post(path_of(i), "body");
  }
  client.send(all);
  for (int i = 0; i < 50; ++i) {
    ASSERT_THAT(client.read_answer(), HasSubstr(path_of(i) + " "));
  }
}

TEST_F(Http, APipelinedRequestWaitsForALateAnswer) {
  start();
  RawClient client(server_->port());
  client.send(get("/held") + get("/after"));
  const Respond respond = handler_.next_held();
  EXPECT_FALSE(client.readable(20));
  respond({.body = "late"});
  EXPECT_THAT(client.read_answer(), EndsWith("late"));
  EXPECT_THAT(client.read_answer(), HasSubstr("GET /after"));
}

TEST_F(Http, RequestsMayComeByteByByte) {
  start();
  RawClient client(server_->port());
  for (const char c : post("/slow", "abc")) {
    client.send(std::string_view(&c, 1));
  }
  EXPECT_THAT(client.read_answer(), EndsWith("abc"));
}

TEST_F(Http, ChunkedBodiesArePutTogetherAndTrailersDecideNothing) {
  start();
  const std::string head =
      "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
      "Connection: close\r\n\r\n";
  EXPECT_THAT(all_for(head + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"), EndsWith("abcde"));
  EXPECT_THAT(all_for(head + "1\r\na\r\n0\r\nAuthorization: Bearer k\r\n\r\n"),
              HasSubstr("POST /c [] [] "));
}

TEST_F(Http, AnEmptyChunkedBodyMayComeByteByByte) {
  start();
  RawClient client(server_->port());
  client.send("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  // A request between the pieces, on the same thread or not, gives each of them time to arrive.
  for (const char c : std::string_view("0\r\n\r\n")) {
    client.send(std::string_view(&c, 1));
    for (int i = 0; i < 2; ++i) {
      RawClient other(server_->port());
      other.send(get("/"));
      other.read_answer();
    }
  }
  EXPECT_THAT(client.read_answer(), HasSubstr("POST /c "));
}

TEST_F(Http, AnswersFromAnotherThreadArrive) {
  start();
  RawClient client(server_->port());
  for (int i = 0; i < 20; ++i) {
    client.send(get("/held"));
    std::thread([respond = handler_.next_held()] { respond({.body = "from afar"}); }).join();
    ASSERT_THAT(client.read_answer(), EndsWith("from afar"));
  }
}

TEST_F(Http, OnlyTheFirstAnswerCounts) {
  start();
  RawClient client(server_->port());
  client.send(get("/held"));
  const Respond respond = handler_.next_held();
  respond({.body = "first"});
  respond({.body = "second"});
  EXPECT_THAT(client.read_answer(), EndsWith("first"));
  client.send(get("/next"));
  EXPECT_THAT(client.read_answer(), HasSubstr("GET /next"));
}

TEST_F(Http, AHandlerThatLosesItsAnswerOrThrowsGivesA500) {
  start();
  RawClient client(server_->port());
  for (const char* path : {"/lost", "/throws"}) {
    client.send(get(path));
    EXPECT_THAT(client.read_answer(), HasSubstr("500 Internal Server Error"));
  }
  client.send(get("/held"));
  { const Respond dropped = handler_.next_held(); }
  EXPECT_THAT(client.read_answer(), HasSubstr("\"code\":\"internal_error\""));
}

TEST_F(Http, AnAnswerForAClientThatLeftIsDropped) {
  start();
  RawClient client(server_->port());
  client.send(get("/held"));
  const Respond respond = handler_.next_held();
  client.close();
  respond({.body = std::string(1'000'000, 'x')});
  RawClient other(server_->port());
  other.send(get("/"));
  EXPECT_THAT(other.read_answer(), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(Http, HeadAndNoContentHaveNoBody) {
  start();
  RawClient client(server_->port());
  client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: "));
  client.send(get("/nothing"));
  EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 204"));
  client.send(get("/last"));
  EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http, AbsoluteTargetsAreUnderstood) {
  start();
  EXPECT_THAT(all_for("GET http://h/p?q HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              HasSubstr("GET /p [q]"));
  EXPECT_THAT(all_for("GET HTTP://h/p HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              HasSubstr("GET /p []"));
}

TEST_F(Http, TooLargeBodiesAreRefusedUnread) {
  start();
  for (const std::string& request :
       {"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'),
        std::string("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999\r\n\r\n"),
        "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
            std::string(1001, 'x')}) {
    RawClient client(server_->port());
    client.send(request);
    const std::string answer = client.read_answer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
    EXPECT_THAT(answer, HasSubstr(R"({"error":{"code":"too_large","message":")"));
    EXPECT_THAT(answer, HasSubstr("Connection: close"));
    client.finish_sending();
    EXPECT_EQ(client.read_all(), "");
  }
  EXPECT_THAT(all_for("POST /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: "
                      "1000\r\n\r\n" +
                      std::string(1000, 'x')),
              EndsWith(" 1000"));
}

TEST_F(Http, TheLimitDependsOnThePath) {
  start();
  RawClient client(server_->port());
  client.send(post("/large", std::string(1'000'000, 'x')));
  EXPECT_THAT(client.read_answer(), EndsWith(" 1000000"));
}

TEST_F(Http, ExpectedContinueIsSentForWhatWillBeRead) {
  start();
  RawClient client(server_->port());
  client.send("POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_THAT(client.read_answer(), EndsWith("abc"));
  client.send(
      "POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3000\r\n\r\n");
  EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 413 "));
}

TEST_F(Http, OldClientsAreNotToldToContinue) {
  start();
  RawClient client(server_->port());
  client.send("POST /x HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_FALSE(client.readable(50));
  client.send("abc");
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.0 200 "));
}

TEST_F(Http, HugeHeadersAreRefused) {
  start();
  const std::string answer = all_for(get("/", "X-Long: " + std::string(20'000, 'x') + "\r\n"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(answer, HasSubstr("header_too_large"));
  EXPECT_THAT(all_for("GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
}

TEST_F(Http, HugeTrailersAndChunkHeadersAreRefused) {
  start();
  const std::string head = "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_THAT(all_for(head + "0\r\nX-Long: " + std::string(200'000, 'x') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(all_for(head + "1;x=" + std::string(200'000, 'x')), StartsWith("HTTP/1.1 4"));
}

TEST_F(Http, MalformedAndAmbiguousFramingIsRefused) {
  start();
  const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
  for (const std::string& request : {
           std::string("GET / HTTP/1.1\r\n\r\n"),  // no Host
           std::string("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
           std::string("GET / HTTP/1.1\nHost: h\n\n"),
           std::string("GET  / HTTP/1.1\r\nHost: h\r\n\r\n"),
           std::string("GET / HTTP/1.1 \r\nHost: h\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\nHost : h\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\n Host: h\r\n\r\n"),
           std::string("GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n"),
           std::string("GET nopath HTTP/1.1\r\nHost: h\r\n\r\n"),
           std::string("GET /#f HTTP/1.1\r\nHost: h\r\n\r\n"),
           std::string("GET http://h?/p HTTP/1.1\r\nHost: h\r\n\r\n"),
           get("/", "X: a\r\n b\r\n"),
           get("/", "X: a\r\n\tb\r\n"),
           std::string("G\xC3\x89T / HTTP/1.1\r\nHost: h\r\n\r\n"),
           get("/", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"),
           get("/", "X: a\rb\r\n"),
           get("/", "X: a" + std::string(1, '\0') + "b\r\n"),
           post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
           post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
           post + "Content-Length: 3, 4\r\n\r\nabcd",
           post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
           post + "Content-Length: 3, 3\r\n\r\nabc",
           post + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
           post + "Content-Length: +3\r\n\r\nabc",
           post + "Content-Length: -1\r\n\r\n",
           post + "Content-Length: 0x3\r\n\r\nabc",
           post + "Content-Length: 3 3\r\n\r\nabc",
           post + "Content-Length: 99999999999999999999\r\n\r\n",
           post + "Transfer-Encoding: gzip\r\n\r\n",
           post + "Transfer-Encoding: identity\r\n\r\n",
           post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding:\x0b" + "chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
           post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
           post + "Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n",
           post + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc",
           post + "Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n",
           std::string("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
       }) {
    // The smuggled request must never be answered.
    RawClient client(server_->port());
    client.send(request + get("/smuggled"));
    client.finish_sending();
    const std::string answer = client.read_all();
    EXPECT_THAT(answer, ContainsRegex("^HTTP/1.[01] (400|505) ")) << request;
    EXPECT_THAT(answer, HasSubstr("Connection: close")) << request;
    EXPECT_THAT(answer, Not(HasSubstr("smuggled"))) << request;
  }
}

TEST_F(Http, FoldedLinesAreRefusedHoweverTheyAreCut) {
  start();
  const std::string request = get("/", "X: a\r\n b\r\nY: c\r\n");
  for (std::size_t cut = 1; cut < request.size(); ++cut) {
    RawClient client(server_->port());
    client.send(request.substr(0, cut));
    std::this_thread::sleep_for(milliseconds(2));  // mostly read by then
    client.send(request.substr(cut));
    EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 400 ")) << cut;
  }
}

TEST_F(Http, OtherVersionsAndExpectationsAreRefused) {
  start();
  EXPECT_THAT(all_for("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 505 "));
  EXPECT_THAT(all_for("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), StartsWith("HTTP/1.1 505 "));
  EXPECT_THAT(all_for(get("/", "Expect: miracles\r\n")), StartsWith("HTTP/1.1 417 "));
}

TEST_F(Http, SlowHeadersAndSlowBodiesEndWith408) {
  start({.header_deadline = milliseconds(50), .body_deadline = milliseconds(50)});
  EXPECT_THAT(all_for("GET / HTT"), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(all_for("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\na"),
              StartsWith("HTTP/1.1 408 "));
}

TEST_F(Http, DripsDoNotExtendADeadline) {
  start({.header_deadline = milliseconds(60)});
  RawClient client(server_->port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\nX: ");
  while (!client.readable(5) && client.send("x")) {
  }
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 408 "));
}

TEST_F(Http, IdleConnectionsAreClosedWithoutAWord) {
  start({.idle_deadline = milliseconds(50)});
  EXPECT_EQ(all_for(""), "");
  RawClient client(server_->port());
  client.send(get("/"));
  client.read_answer();
  EXPECT_EQ(client.read_all(), "");
}

TEST_F(Http, AHandlerMayTakeLongerThanAnyDeadline) {
  start({.header_deadline = milliseconds(20),
         .body_deadline = milliseconds(20),
         .idle_deadline = milliseconds(20),
         .write_deadline = milliseconds(1000)});
  RawClient client(server_->port());
  client.send(get("/held"));
  const Respond respond = handler_.next_held();
  EXPECT_FALSE(client.readable(150));
  respond({.body = "done"});
  EXPECT_THAT(client.read_answer(), EndsWith("done"));
}

TEST_F(Http, AClientThatDoesNotReadIsGivenUp) {
  start({.write_deadline = milliseconds(50)});
  RawClient client(server_->port());
  client.send(get("/held"));
  handler_.next_held()({.body = std::string(50'000'000, 'x')});
  while (server_->connections() > 0) {
    std::this_thread::yield();
  }
}

TEST_F(Http, MoreConnectionsThanAllowedAreToldToComeBack) {
  start({.max_connections = 2});
  RawClient one(server_->port());
  RawClient two(server_->port());
  for (RawClient* client : {&one, &two}) {
    client->send(get("/"));
    client->read_answer();
  }
  const std::string answer = all_for("");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, EndsWith("try later\"}}"));
  const std::size_t body = answer.find("\r\n\r\n") + 4;
  EXPECT_THAT(
      answer,
      HasSubstr(std::string("Content-Length: ").append(std::to_string(answer.size() - body))));
}

TEST_F(Http, StreamsComeInChunksAndEnd) {
  start();
  const std::string answer = all_for(get("/stream"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n"));
  EXPECT_THAT(answer, EndsWith("data: 3\n\n\r\n0\r\n\r\n"));
}

TEST_F(Http, OldClientsGetStreamsWithoutChunks) {
  start();
  EXPECT_THAT(all_for("GET /stream HTTP/1.0\r\n\r\n"),
              EndsWith("\r\n\r\ndata: 1\n\ndata: 2\n\ndata: 3\n\n"));
}

TEST_F(Http, AStreamEndsWhenItsClientGoes) {
  start();
  RawClient client(server_->port());
  client.send(get("/endless"));
  client.read_until("data: 3");
  client.close();
  while (server_->connections() > 0) {
    std::this_thread::yield();
  }
}

TEST_F(Http, ShutdownFinishesTheRequestUnderWay) {
  start();
  RawClient client(server_->port());
  client.send(get("/held"));
  const Respond respond = handler_.next_held();
  std::thread stopper([this] { server_->shut_down(kLong); });
  while (RawClient(server_->port()).connected()) {  // accepting stops first
    std::this_thread::yield();
  }
  respond({.body = "finished"});
  stopper.join();
  const std::string answer = client.read_all();
  EXPECT_THAT(answer, EndsWith("finished"));
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
}

TEST_F(Http, ShutdownClosesIdleConnectionsAndEndsStreams) {
  start();
  RawClient idle(server_->port());
  idle.send(get("/"));
  idle.read_answer();
  RawClient stream(server_->port());
  stream.send(get("/endless"));
  stream.read_until("data: 1");
  server_->shut_down(kLong);
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_THAT(stream.read_all(), EndsWith("\r\n0\r\n\r\n"));
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(Http, ShutdownDoesNotWaitForEver) {
  start();
  RawClient held(server_->port());
  held.send(get("/held"));
  RawClient half(server_->port());
  half.send("GET / HTTP");
  const Respond respond = handler_.next_held();
  server_->shut_down(milliseconds(20));
  EXPECT_EQ(held.read_all(), "");
  server_.reset();
  respond({.body = "nobody hears this"});
}

TEST_F(Http, ManyClientsAtOnceGetTheirOwnAnswers) {
  start({.threads = 4});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      RawClient client(server_->port());
      for (int i = 0; i < 200; ++i) {
        const std::string path = path_of(1000 * t + i);
        client.send(i % 3 == 0 ? post(path, "body") : get(path));
        ASSERT_THAT(client.read_answer(), HasSubstr(path + " "));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(Http, ATakenPortAndANameAreErrors) {
  start();
  const auto taken = HttpServer::start({.port = server_->port()}, handler_);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, ErrorCode::kIo);
  const auto name = HttpServer::start({.address = "example", .port = 0}, handler_);
  ASSERT_FALSE(name.ok());
  EXPECT_EQ(name.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace hindsight
