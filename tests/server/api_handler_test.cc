#include "src/server/api_handler.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/server/assets.h"
#include "src/server/lanes.h"
#include "tests/server/api_fixture.h"

namespace hindsight {
namespace {

constexpr const char* kBooks = "/v1/collections/books";

std::string books(const std::string& rest) { return kBooks + rest; }

TEST_F(ApiTest, PutMakesACollectionAndSaysSo) {
  const Answer made =
      ask("PUT", "/v1/collections/new", {.body = R"({"ranker":"hits","seed":7,"control":0.5})"});
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/outcome"), "created");
  EXPECT_EQ(made.at("/name"), "new");
  EXPECT_EQ(made.at("/seed"), "7");
  EXPECT_EQ(made.at("/window_seconds"), "1800");
  EXPECT_EQ(engine.last_patch.control, 0.5);
  const Answer again = ask("PUT", "/v1/collections/new", {.body = "{}"});
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.at("/outcome"), "unchanged");
  EXPECT_EQ(ask("PUT", "/v1/collections/new").status, 200) << "no body asks for no change";
}

TEST_F(ApiTest, PutRefusesNamesThatNoCollectionHas) {
  for (const char* name : {"Books", "a.b", "b%20c", "%E2%82%AC"}) {
    const Answer answer = ask("PUT", std::string("/v1/collections/") + name, {.body = "{}"});
    EXPECT_EQ(answer.status, 400) << name;
    EXPECT_EQ(answer.at("/error/field"), "collection");
    EXPECT_EQ(ask("GET", std::string("/v1/collections/") + name).status, 404) << name;
  }
  EXPECT_EQ(engine.calls, 0);
}

TEST_F(ApiTest, CollectionsAreListedReadAndDeleted) {
  engine.add("films");
  EXPECT_EQ(ask("GET", "/v1/collections").at("/collections/1/name"), "films");
  EXPECT_EQ(ask("GET", kBooks).at("/ranker"), "klrank");
  const Answer gone = ask("DELETE", kBooks);
  EXPECT_EQ(gone.status, 204);
  EXPECT_EQ(gone.body, "");
  EXPECT_EQ(ask("GET", kBooks).status, 404);
}

TEST_F(ApiTest, ItemsAreAddedPagedReadAndRemoved) {
  const Answer added = ask("POST", books("/items"),
                           {.body = R"({"items":[{"id":"a/b","topics":["t"],"features":{"f":0.1}},
                                       {"id":"c"},{"id":"d"}]})"});
  EXPECT_EQ(added.status, 200);
  EXPECT_EQ(added.body, R"({"added":3,"updated":0})");
  EXPECT_EQ(ask("GET", books("/items/a%2Fb")).at("/features/f"), "0.1");
  EXPECT_EQ(ask("GET", books("/items/a%2Fb")).at("/topics/0"), "t");
  const Answer page = ask("GET", books("/items"), {.query = "limit=2"});
  EXPECT_EQ(page.at("/items/1/id"), "c");
  EXPECT_EQ(page.at("/next_cursor"), "c");
  const Answer rest = ask("GET", books("/items"), {.query = "limit=2&cursor=c"});
  EXPECT_EQ(rest.at("/items/0/id"), "d");
  EXPECT_EQ(rest.at("/next_cursor"), "") << "the end";
  EXPECT_EQ(ask("DELETE", books("/items/a%2Fb")).status, 204);
  EXPECT_EQ(ask("DELETE", books("/items/a%2Fb")).at("/error/code"), "unknown_item");
}

TEST_F(ApiTest, QueriesAreReadStrictly) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"limit=0", "limit"},
      {"limit=1001", "limit"},
      {"limit=ten", "limit"},
      {"limit=", "limit"},
      {"limit=1&limit=2", "limit"},
      {"size=1", "size"},
      {"cursor=%zz", "query"},
      {"cursor=%ff", "query"},
      {"cursor=" + std::string(1025, 'c'), "cursor"}};
  for (const auto& [query, field] : refused) {
    const Answer answer = ask("GET", books("/items"), {.query = query});
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_EQ(answer.at("/error/field"), field) << query;
  }
  EXPECT_EQ(ask("GET", books("/items"), {.query = "&limit=1000&cursor=%E2%82%AC"}).status, 200);
}

TEST_F(ApiTest, RankHandsTheWishOnAndTheListBack) {
  const Answer answer =
      ask("POST", books("/rank"), {.key = "rank", .body = R"({"candidates":["b1","b2"],"k":1})"});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_EQ(answer.body,
            R"({"decision":"d_1","items":[{"id":"b1","score":0.5,"prob_first":0.25}],)"
            R"("log_propensity":-1.5,"model_version":7,"control":false,"candidates":2})");
  EXPECT_EQ(engine.last_rank->candidates[1].id, "b2");
}

TEST_F(ApiTest, ClicksAreCountedByOutcome) {
  const Answer answer =
      ask("POST", books("/clicks"),
          {.key = "click", .body = R"({"clicks":[{"decision":"d_1","item":"b1","event":"e"}]})"});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"accepted":1,"duplicate":0,"late":0,"unjoined":0,"quarantined":0})");
  ASSERT_EQ(engine.last_clicks.size(), 1U);
  EXPECT_EQ(engine.last_clicks[0].event, "e");
}

TEST_F(ApiTest, StatsCarryTheHashUnlessNotWanted) {
  EXPECT_EQ(ask("GET", books("/stats")).at("/model_hash"), "00ff");
  EXPECT_TRUE(engine.last_with_hash);
  EXPECT_EQ(ask("GET", books("/stats"), {.query = "hash=false"}).at("/model_hash"), "");
  EXPECT_FALSE(engine.last_with_hash);
  EXPECT_EQ(engine.looks, 1) << "the hash alone takes long";
  EXPECT_EQ(ask("GET", books("/stats"), {.query = "hash=no"}).at("/error/field"), "hash");
}

TEST_F(ApiTest, HistoryHasAsManyPointsAsWanted) {
  CurvePoint point;
  point.position = 5;
  engine.held["books"].history = {point};
  EXPECT_EQ(ask("GET", books("/history")).at("/points/0/position"), "5");
  EXPECT_EQ(engine.last_points, 500U);
  EXPECT_EQ(ask("GET", books("/history"), {.query = "points=7"}).status, 200);
  EXPECT_EQ(engine.last_points, 7U);
  for (const char* query : {"points=0", "points=2001", "points=x", "points=", "n=1"}) {
    EXPECT_EQ(ask("GET", books("/history"), {.query = query}).status, 400) << query;
  }
}

TEST_F(ApiTest, DecisionsAndUsersAreFoundByThePath) {
  EXPECT_EQ(ask("GET", books("/decisions/d_1")).at("/clicked/0"), "b1");
  EXPECT_EQ(ask("GET", books("/decisions/d_2")).at("/error/code"), "not_found");
  EXPECT_EQ(ask("DELETE", books("/users/j%C3%BCrgen")).body, R"({"events":3})");
  EXPECT_EQ(engine.last_user, "j\xC3\xBCrgen");
}

TEST_F(ApiTest, EvaluationsAreBegunReadAndCancelled) {
  const Answer begun = ask("POST", books("/evaluate"),
                           {.body = R"({"ranker":"noregret-klrank","params":{"alpha":1.5}})"});
  EXPECT_EQ(begun.status, 202);
  EXPECT_EQ(begun.at("/state"), "running");
  EXPECT_EQ(begun.at("/params/alpha"), "1.5");
  EXPECT_EQ(begun.at("/head"), "9");
  EXPECT_EQ(begun.body.find("\"result\""), std::string::npos) << "not before it is done";
  EXPECT_EQ(engine.job.choice.ranker, "noregret-klrank");
  EXPECT_EQ(ask("GET", books("/evaluate")).at("/ranker"), "noregret-klrank");
  const Answer ended = ask("DELETE", books("/evaluate"));
  EXPECT_EQ(ended.status, 200);
  EXPECT_EQ(ended.at("/state"), "cancelled");
}

TEST_F(ApiTest, AnEvaluationHasToNameItsRanker) {
  const std::pair<const char*, const char*> refused[] = {
      {"{}", "ranker"},
      {R"({"ranker":""})", "ranker"},
      {R"({"ranker":3})", "ranker"},
      {R"({"ranker":"hits","params":1})", "params"},
      {R"({"ranker":"hits","k":1})", "k"}};
  for (const auto& [body, field] : refused) {
    const Answer answer = ask("POST", books("/evaluate"), {.body = body});
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.at("/error/field"), field) << body;
  }
  EXPECT_EQ(engine.calls, 0);
}

TEST_F(ApiTest, PathsAreDecodedStrictly) {
  for (const char* id : {"%", "%4", "%zz", "%00", "%0a", "%ff", "%C0%AF"}) {
    EXPECT_EQ(ask("GET", books(std::string("/items/") + id)).status, 400) << id;
    EXPECT_EQ(ask("GET", books(std::string("/decisions/") + id)).status, 400) << id;
    EXPECT_EQ(ask("DELETE", books(std::string("/users/") + id)).status, 400) << id;
    EXPECT_EQ(ask("DELETE", books(std::string("/items/") + id)).status, 400) << id;
  }
  EXPECT_EQ(ask("GET", books("/items/" + std::string(257, 'x'))).status, 400);
  EXPECT_EQ(ask("GET", "/v1/collections/%62ooks").status, 200) << "another way to write books";
}

TEST_F(ApiTest, UnknownPathsAreNotFoundInJson) {
  for (const char* path :
       {"/v1", "/v2/collections", "/v1/collections/", "/v1/collections/books/", "//v1/collections",
        "/v1/collections/books/items/", "*", "", "/v1/collections/books/items/a/b", "/healthz/",
        "/..", "/v1/../healthz"}) {
    const Answer answer = ask("GET", path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.at("/error/code"), "not_found") << path;
    EXPECT_EQ(answer.content_type, "application/json");
  }
}

TEST_F(ApiTest, KnownPathsSayWhichMethodsTheyKnow) {
  const Answer answer = ask("PATCH", kBooks);
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.header("Allow"), "PUT, GET, HEAD, DELETE");
  EXPECT_EQ(answer.at("/error/code"), "method_not_allowed");
  EXPECT_EQ(ask("GET", books("/rank")).header("Allow"), "POST");
  EXPECT_EQ(ask("get", "/healthz").status, 405) << "methods are case-sensitive";
}

TEST_F(ApiTest, HeadIsAnsweredLikeGet) {
  // The server keeps the body to itself, and needs it for the length that it tells.
  const Answer answer = ask("HEAD", kBooks);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, ask("GET", kBooks).body);
  EXPECT_EQ(ask("HEAD", "/v1/collections/none").status, 404);
}

TEST_F(ApiTest, WithoutAKnownKeyNothingIsSaid) {
  for (const char* key : {"", "nobody", "admin "}) {
    const Answer answer = ask("GET", kBooks, {.key = key});
    EXPECT_EQ(answer.status, 401) << key;
    EXPECT_EQ(answer.header("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(answer.at("/error/code"), "unauthorized");
  }
  EXPECT_EQ(ask("PUT", kBooks, {.key = "", .body = "{"}).status, 401) << "before the body is read";
  EXPECT_EQ(ask("POST", books("/rank"), {.key = "", .body_too_large = true}).status, 401);
  EXPECT_EQ(engine.calls, 0);
}

TEST_F(ApiTest, BodiesMustBeJsonOrNotSay) {
  const auto with_type = [&](const std::string& type) {
    return ask("POST", books("/rank"), {.body = "{}", .content_type = type}).status;
  };
  for (const char* type : {"application/json", "application/json; charset=utf-8", "",
                           "Application/JSON", "application/json;charset=utf-8"}) {
    EXPECT_EQ(with_type(type), 200) << type;
  }
  for (const char* type : {"text/plain", "application/jsonx", "application/x-www-form-urlencoded",
                           "multipart/form-data; boundary=x", " application/json"}) {
    EXPECT_EQ(with_type(type), 415) << type;
  }
}

TEST_F(ApiTest, BodiesMustNotBeEncoded) {
  const auto with_encoding = [&](const std::string& encoding) {
    return ask("POST", books("/rank"), {.body = "{}", .content_encoding = encoding});
  };
  EXPECT_EQ(with_encoding("identity").status, 200);
  const Answer refused = with_encoding("gzip");
  EXPECT_EQ(refused.status, 415);
  EXPECT_EQ(refused.at("/error/field"), "Content-Encoding");
}

TEST_F(ApiTest, BodyLimitsFollowTheRoute) {
  const std::string rank_path = books("/rank");
  const std::string clicks_path = books("/clicks");
  const std::string key = "Bearer admin";
  const auto admit = [&](std::string_view method, std::string_view path, std::string_view sent) {
    HttpRequest head;
    head.method = method;
    head.path = path;
    head.authorization = sent;
    return handler().admit(head, [](std::uint64_t, bool) { return true; });
  };
  EXPECT_EQ(admit("POST", rank_path, key).body_limit, std::size_t{8} << 20);
  EXPECT_EQ(admit("POST", clicks_path, key).body_limit, std::size_t{1} << 20);
  EXPECT_EQ(admit("PUT", kBooks, key).body_limit, std::size_t{1} << 20);
  EXPECT_LE(admit("GET", kBooks, key).body_limit, std::size_t{4} << 10);
  EXPECT_LE(admit("POST", "/no/such/path", key).body_limit, std::size_t{4} << 10);
  EXPECT_FALSE(admit("POST", rank_path, key).refused);
  // Who may not call has no body kept.
  EXPECT_TRUE(admit("POST", rank_path, "").refused);
  EXPECT_TRUE(admit("POST", rank_path, "Bearer wrong").refused);
  EXPECT_TRUE(admit("POST", rank_path, "Bearer read").refused);
  const Answer answer = ask("POST", books("/rank"), {.body_too_large = true});
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.at("/error/code"), "too_large");
}

TEST_F(ApiTest, WithoutTimeEverybodyButAPageIsTurnedAwayFromTheFirstLineOn) {
  const std::string rank_path = books("/rank");
  std::vector<std::uint64_t> lanes;
  const auto admit = [&](std::string_view path, std::string_view origin) {
    HttpRequest head;
    head.method = path == rank_path ? "POST" : "GET";
    head.path = path;
    head.origin = origin;
    return handler().admit(head, [&](std::uint64_t lane, bool patient) {
      lanes.push_back(lane);
      EXPECT_FALSE(patient);
      return false;
    });
  };
  EXPECT_EQ(admit(rank_path, "").turned_away, TurnedAway::kNoTime) << "whatever its key";
  EXPECT_EQ(admit("/v1/collections", "").turned_away, TurnedAway::kNoTime);
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_NE(lanes[0], lanes[1]);
  EXPECT_EQ(admit("/healthz", "").turned_away, TurnedAway::kNo);
  EXPECT_EQ(admit("/no/such/path", "").turned_away, TurnedAway::kNo);
  EXPECT_EQ(admit(rank_path, "https://shop.example").turned_away, TurnedAway::kNo)
      << "a page could not read that answer";
  const std::string metrics = ask("GET", "/metrics").body;
  EXPECT_NE(metrics.find("hindsight_refused_total{reason=\"waiting\"} 2"), std::string::npos);
}

TEST_F(ApiTest, MalformedBodiesReachNoEngine) {
  for (const char* path : {"/rank", "/clicks", "/items", "/evaluate"}) {
    const Answer answer = ask("POST", books(path), {.body = "{"});
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.at("/error/code"), "parse_error");
  }
  EXPECT_EQ(ask("PUT", kBooks, {.body = "{"}).status, 400);
  EXPECT_EQ(engine.calls, 0);
}

TEST_F(ApiTest, ErrorsOfTheEngineKeepTheirCodeAndStatus) {
  const std::pair<ErrorCode, int> codes[] = {
      {ErrorCode::kIo, 503},           {ErrorCode::kOverloaded, 503},
      {ErrorCode::kOverBudget, 507},   {ErrorCode::kConflict, 409},
      {ErrorCode::kUnknownItem, 404},  {ErrorCode::kCorrupt, 500},
      {ErrorCode::kDuplicateItem, 400}};
  for (const auto& [code, status] : codes) {
    engine.fail_with = Error{code, "a sentence", "candidates[0]"};
    const Answer answer = ask("POST", books("/rank"), {.body = R"({"candidates":["a"]})"});
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.at("/error/code"), error_info(code).name);
    const bool of_files = code == ErrorCode::kIo || code == ErrorCode::kCorrupt;
    EXPECT_EQ(answer.at("/error/message") == "a sentence", !of_files);
    EXPECT_EQ(answer.body.find("candidates[0]") != std::string::npos, !of_files);
    EXPECT_EQ(answer.header("Retry-After").empty(), status != 503);
    EXPECT_EQ(ask("PUT", kBooks, {.body = "{}"}).status, status);
    EXPECT_EQ(ask("DELETE", kBooks).status, status);
    EXPECT_EQ(ask("GET", books("/stats")).status, status);
    EXPECT_EQ(ask("DELETE", books("/items/a")).status, status);
  }
}

TEST_F(ApiTest, ExceptionsNeverEscape) {
  engine.no_memory = true;
  for (const char* path :
       {"/stats", "/history", "/items", "/items/a", "/decisions/d_1", "/stream", ""}) {
    const Answer answer = ask("GET", books(path));
    EXPECT_EQ(answer.status, 503) << path;
    EXPECT_EQ(answer.at("/error/code"), "overloaded");
    EXPECT_EQ(answer.header("Retry-After"), "1");
  }
  EXPECT_EQ(ask("POST", books("/rank"), {.body = "{}"}).status, 503);
}

TEST_F(ApiTest, AnswersMayComeLaterFromAnotherThread) {
  engine.answer_later = true;
  EXPECT_FALSE(ask_now("POST", books("/rank"), {.body = R"({"candidates":["a"]})"}).has_value());
  ASSERT_EQ(engine.waiting.size(), 1U);
  std::thread([&] { engine.waiting[0](); }).join();
  ASSERT_TRUE(answered().has_value());
  EXPECT_EQ(answered()->at("/items/0/id"), "a");
}

TEST_F(ApiTest, WhatTakesTheEngineLongIsAskedForWhenItHasTime) {
  engine.held["books"].items["a"].id = "a";
  int looks = 0;
  for (const char* path : {"/items", "/items?sort=score", "/items/a/explain", "/stats", "/history",
                           "/decisions", "/decisions/d_1"}) {
    const std::string_view whole = path;
    const std::size_t mark = std::min(whole.find('?'), whole.size());
    const Ask wish = {.query = std::string(whole.substr(std::min(mark + 1, whole.size())))};
    const std::string place = books(std::string(whole.substr(0, mark)));
    engine.answer_later = true;
    const int calls = engine.calls;
    EXPECT_FALSE(ask_now("GET", place, wish).has_value()) << path;
    EXPECT_EQ(engine.calls, calls) << path << " is not asked for yet";
    EXPECT_EQ(engine.looks, ++looks) << path;
    for (const auto& answer_now : std::exchange(engine.waiting, {})) {
      answer_now();
    }
    ASSERT_TRUE(answered().has_value()) << path;
    EXPECT_EQ(answered()->status, 200) << path;
    engine.answer_later = false;
    engine.no_turn = Error{ErrorCode::kOverloaded, "too many", ""};
    const Answer refused = ask("GET", place, wish);
    EXPECT_EQ(refused.status, 503) << path;
    EXPECT_EQ(refused.header("Retry-After"), "1") << path;
    engine.no_turn.reset();
    ++looks;
  }
}

TEST_F(ApiTest, HealthNeedsNoKeyAndReadinessTellsNoSecrets) {
  EXPECT_EQ(ask("GET", "/healthz", {.key = ""}).status, 200);
  EXPECT_EQ(ask("GET", "/readyz", {.key = ""}).body, R"({"status":"ready"})");
  engine.stopped = Error{ErrorCode::kIo, "cannot write /secret/place", "log"};
  const Answer failed = ask("GET", "/readyz", {.key = ""});
  EXPECT_EQ(failed.status, 503);
  EXPECT_EQ(failed.body.find(R"({"status":"failed","code":"io_error","message":"nothing more is)"),
            0U)
      << failed.body;
  EXPECT_EQ(ask("GET", "/healthz", {.key = ""}).status, 200) << "alive, though not ready";
}

TEST_F(ApiTest, TheFrontPageIsTheConsoleAndNamesFilesThatAreThere) {
  const Answer page = ask("GET", "/", {.key = ""});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(page.header("Content-Security-Policy").find("unsafe"), std::string::npos);
  EXPECT_NE(page.header("Content-Security-Policy").find("script-src 'self';"), std::string::npos);
  EXPECT_EQ(page.header("Cache-Control"), "") << "no-store, as every answer";
  std::size_t named = 0;
  for (const ConsoleFile& file : console_files()) {
    const Answer answer = ask("GET", "/assets/" + std::string(file.name), {.key = ""});
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.content_type, file.content_type);
    EXPECT_EQ(answer.body, file.bytes);
    EXPECT_NE(answer.header("Cache-Control").find("immutable"), std::string::npos);
    named += page.body.find("/assets/" + std::string(file.name)) != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(named, 3U) << "a script, a style and an icon";
  EXPECT_EQ(ask("GET", "/assets/none.js", {.key = ""}).status, 404);
  EXPECT_EQ(ask("GET", "/assets/..%2Findex.html", {.key = ""}).status, 404);
}

TEST_F(ApiTest, AnItemIsExplainedForATopicASessionAGroupAndAContextKey) {
  ask("POST", books("/items"), {.body = R"({"items":[{"id":"a/b"}]})"});
  const Answer why = ask("GET", books("/items/a%2Fb/explain"),
                         {.query = "topic=t&session=s%201&group=g&context_key=jaguar"});
  EXPECT_EQ(why.status, 200);
  EXPECT_EQ(why.at("/prob_first"), "0.25");
  EXPECT_EQ(why.at("/parts/0/name"), "t/s 1/g/jaguar");
  EXPECT_EQ(why.at("/parts/0/contribution"), "1");
  EXPECT_EQ(why.at("/experts/0/cost"), "3.5");
  EXPECT_EQ(ask("GET", books("/items/a%2Fb/explain")).at("/parts/0/name"), "///");
  EXPECT_EQ(ask("GET", books("/items/nobody/explain")).at("/error/code"), "unknown_item");
  EXPECT_EQ(ask("GET", books("/items/a%2Fb/explain"), {.query = "group="}).at("/error/field"),
            "group");
  EXPECT_EQ(ask("GET", books("/items/a%2Fb/explain"), {.query = "user=u"}).status, 400);
}

TEST_F(ApiTest, ItemsMayBeAskedForByTheirScores) {
  ask("POST", books("/items"), {.body = R"({"items":[{"id":"a"},{"id":"b"},{"id":"c"}]})"});
  const Answer top = ask("GET", books("/items"), {.query = "sort=score&limit=2"});
  EXPECT_EQ(top.status, 200);
  EXPECT_EQ(top.at("/items/0/id"), "c");
  EXPECT_EQ(top.at("/items/1/id"), "b");
  EXPECT_EQ(top.body.find("next_cursor"), std::string::npos);
  EXPECT_EQ(ask("GET", books("/items"), {.query = "sort=added"}).at("/items/0/id"), "a");
  EXPECT_EQ(ask("GET", books("/items"), {.query = "sort=name"}).at("/error/field"), "sort");
  EXPECT_EQ(ask("GET", books("/items"), {.query = "sort=score&cursor=a"}).at("/error/field"),
            "cursor");
}

TEST_F(ApiTest, DecisionsAreListedBeforeAPosition) {
  const Answer lists = ask("GET", books("/decisions"), {.query = "before=12&limit=3"});
  EXPECT_EQ(lists.status, 200);
  EXPECT_EQ(lists.at("/decisions/0/decision"), "d_1");
  EXPECT_EQ(lists.at("/decisions/0/items/0/id"), "b1");
  EXPECT_EQ(engine.last_before, 12U);
  EXPECT_EQ(engine.last_limit, 3U);
  EXPECT_EQ(ask("GET", books("/decisions")).status, 200);
  EXPECT_GT(engine.last_before, std::uint64_t{1} << 60) << "the newest";
  for (const char* query : {"before=0", "before=-1", "before=x", "limit=0", "limit=51", "at=1"}) {
    EXPECT_EQ(ask("GET", books("/decisions"), {.query = query}).status, 400) << query;
  }
}

TEST_F(ApiTest, TheRegistryIsListed) {
  const Answer answer = ask("GET", "/v1/rankers", {.key = "read"});
  EXPECT_EQ(answer.at("/rankers/0/name"), ranker_registry()[0].name);
  EXPECT_EQ(answer.at("/rankers/0/params/0/name"), ranker_registry()[0].params[0].name);
}

// CORS and publishable keys.

class BrowserTest : public ApiTest {
 protected:
  BrowserTest() {
    keys.add("shop", {.role = Role::kClick,
                      .collections = {"books"},
                      .publishable = true,
                      .origins = {"https://shop.example"}});
  }
  static constexpr const char* kClick = R"({"clicks":[{"decision":"d_1","item":"b1"}]})";
};

TEST_F(BrowserTest, PublishableKeysClickFromTheirOrigin) {
  const Answer answer = ask("POST", books("/clicks"),
                            {.key = "shop", .body = kClick, .origin = "https://shop.example"});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "https://shop.example");
  EXPECT_EQ(answer.header("Vary"), "Origin");
}

TEST_F(BrowserTest, PublishableKeysAreUselessElsewhere) {
  for (const char* origin : {"", "null", "https://evil.example", "https://shop.example.evil",
                             "http://shop.example", "https://SHOP.example"}) {
    const Answer answer =
        ask("POST", books("/clicks"), {.key = "shop", .body = kClick, .origin = origin});
    EXPECT_EQ(answer.status, 403) << origin;
    EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "") << origin;
  }
  EXPECT_EQ(engine.calls, 0);
}

TEST_F(BrowserTest, ErrorsCanBeReadByThePage) {
  const Answer answer =
      ask("POST", books("/clicks"), {.key = "shop", .body = "{", .origin = "https://shop.example"});
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "https://shop.example");
}

TEST_F(BrowserTest, PreflightsAreAnsweredForKnownOriginsOfPublishableKeys) {
  const Answer answer =
      ask("OPTIONS", books("/clicks"), {.key = "", .origin = "https://shop.example"});
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "https://shop.example");
  EXPECT_EQ(answer.header("Access-Control-Allow-Methods"), "POST");
  EXPECT_EQ(answer.header("Access-Control-Allow-Headers"), "Authorization, Content-Type");
  const Answer foreign =
      ask("OPTIONS", books("/clicks"), {.key = "", .origin = "https://evil.example"});
  EXPECT_EQ(foreign.status, 405);
  EXPECT_EQ(foreign.header("Access-Control-Allow-Origin"), "");
  EXPECT_EQ(ask("OPTIONS", books("/rank"), {.key = "", .origin = "https://shop.example"}).status,
            405)
      << "publishable keys cannot rank";
}

TEST_F(BrowserTest, ThereIsNoCorsUnlessConfigured) {
  const std::string origin = "https://console.example";
  EXPECT_EQ(ask("OPTIONS", kBooks, {.key = "", .origin = origin}).status, 405);
  EXPECT_EQ(ask("GET", kBooks, {.origin = origin}).header("Access-Control-Allow-Origin"), "");
  ApiOptions configured = options();
  configured.cors_origins = {origin};
  use(configured);
  const Answer preflight = ask("OPTIONS", kBooks, {.key = "", .origin = origin});
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.header("Access-Control-Allow-Methods"), "PUT, GET, HEAD, DELETE");
  EXPECT_EQ(ask("GET", kBooks, {.origin = origin}).header("Access-Control-Allow-Origin"), origin);
  EXPECT_EQ(ask("OPTIONS", "/no/such", {.key = "", .origin = origin}).status, 404);
}

TEST_F(BrowserTest, PublishableKeysAreLimitedPerAddressAndOthersPerKey) {
  std::vector<std::string> asked;
  ApiOptions limited = options();
  limited.publishable_limit = [&](std::string_view who, bool) {
    asked.emplace_back(who);
    return RateVerdict{.wait_ms = 1500};
  };
  limited.key_limit = [&](std::string_view who, bool) {
    asked.emplace_back(who);
    return RateVerdict{};
  };
  use(limited);
  const Answer answer = ask("POST", books("/clicks"),
                            {.key = "shop", .body = kClick, .origin = "https://shop.example"});
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.at("/error/code"), "rate_limited");
  EXPECT_EQ(answer.header("Retry-After"), "2");
  EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "https://shop.example");
  EXPECT_EQ(ask("POST", books("/clicks"), {.key = "click", .body = kClick}).status, 200);
  EXPECT_EQ(asked, (std::vector<std::string>{"192.0.2.1", "id-of-click"}));
}

TEST_F(ApiTest, AddressesAndCollectionsHaveLimitsOfTheirOwn) {
  std::vector<std::string> asked;
  std::int64_t address_wait = 0;
  std::int64_t collection_wait = 0;
  ApiOptions limited = options();
  limited.address_limit = [&](std::string_view who, bool) {
    asked.emplace_back(who);
    return RateVerdict{.wait_ms = address_wait};
  };
  limited.collection_limit = [&](std::string_view who, bool) {
    asked.emplace_back(who);
    return RateVerdict{.wait_ms = collection_wait};
  };
  use(limited);
  EXPECT_EQ(ask("GET", kBooks).status, 200);
  EXPECT_EQ(asked, (std::vector<std::string>{"192.0.2.1", "books"}));
  collection_wait = 1;
  const Answer answer = ask("GET", kBooks);
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.header("Retry-After"), "1");
  // Who may not call a collection cannot use up its rate.
  asked.clear();
  EXPECT_EQ(ask("GET", kBooks, {.key = "wrong"}).status, 401);
  EXPECT_EQ(ask("GET", kBooks, {.key = "rank"}).status, 403);
  EXPECT_EQ(asked, (std::vector<std::string>{"192.0.2.1", "192.0.2.1"}));
  address_wait = 1;
  EXPECT_EQ(ask("GET", kBooks, {.key = "wrong"}).status, 429) << "guessing keys is limited";
  EXPECT_EQ(ask("GET", "/healthz").status, 200) << "probes are not";
  address_wait = collection_wait = 0;
  const std::string metrics = ask("GET", "/metrics").body;
  EXPECT_NE(metrics.find("hindsight_refused_total{reason=\"collection_rate\"} 1"),
            std::string::npos);
  EXPECT_NE(metrics.find("hindsight_refused_total{reason=\"address_rate\"} 1"), std::string::npos);
}

TEST_F(ApiTest, ANameThatNoCollectionHasIsRefusedFromItsHeaderOn) {
  std::vector<std::string> asked;
  ApiOptions limited = options();
  limited.collection_limit = [&](std::string_view who, bool) {
    asked.emplace_back(who);
    return RateVerdict{};
  };
  use(limited);
  HttpRequest head;
  head.method = "POST";
  head.path = "/v1/collections/films/rank";
  head.authorization = "Bearer admin";
  EXPECT_TRUE(handler().admit(head, [](std::uint64_t, bool) { return true; }).refused);
  EXPECT_EQ(ask("POST", head.path, {.body = "not JSON"}).at("/error/code"), "not_found");
  EXPECT_EQ(asked, std::vector<std::string>()) << "it has no rate to use up";
  EXPECT_EQ(ask("PUT", "/v1/collections/films", {.body = "{}"}).status, 201);
  EXPECT_EQ(asked, std::vector<std::string>{"films"});
}

TEST_F(ApiTest, KeysPayForTheirMemoryAndPublishableOnesByAddress) {
  keys.add("shop",
           {.role = Role::kClick, .publishable = true, .origins = {"https://shop.example"}});
  const auto payer = [&](std::string_view key, std::string_view peer) {
    const std::string authorization = "Bearer " + std::string(key);
    HttpRequest head;
    head.method = "POST";
    head.path = "/v1/collections/books/clicks";
    head.authorization = authorization;
    head.peer = peer;
    head.origin = "https://shop.example";
    return handler().admit(head, [](std::uint64_t, bool) { return true; }).payer;
  };
  EXPECT_EQ(payer("click", "192.0.2.1"), payer("click", "192.0.2.2"));
  EXPECT_NE(payer("click", "192.0.2.1"), payer("admin", "192.0.2.1"));
  EXPECT_NE(payer("shop", "192.0.2.1"), payer("shop", "192.0.2.2"));
  EXPECT_NE(payer("", "192.0.2.1"), payer("", "192.0.2.2"));
}

TEST_F(ApiTest, WhoIsAheadOfARateIsServedAfterAllOthers) {
  bool ahead = false;
  ApiOptions limited = options();
  limited.collection_limit = [&](std::string_view, bool) { return RateVerdict{.ahead = ahead}; };
  use(limited);
  const std::string path = books("/rank");
  const auto lane = [&] {
    HttpRequest head;
    head.method = "POST";
    head.path = path;
    head.authorization = "Bearer admin";
    return handler().admit(head, [](std::uint64_t, bool) { return true; }).lane;
  };
  const std::uint64_t usual = lane();
  EXPECT_NE(usual, 0U);
  EXPECT_FALSE(Lanes::is_last(usual));
  ahead = true;
  EXPECT_EQ(lane(), Lanes::last_in_line(usual));
  EXPECT_EQ(ask("GET", kBooks).status, 200) << "and served it is";
}

TEST_F(ApiTest, WhoIsAheadOfARateAndCannotBeServedLosesNoToken) {
  bool ahead = true;
  bool busy = true;
  int tokens = 0;
  ApiOptions limited = options();
  limited.collection_limit = [&](std::string_view, bool unless_ahead) {
    tokens += ahead && unless_ahead ? 0 : 1;
    return RateVerdict{.ahead = ahead};
  };
  use(limited);
  const std::string path = books("/rank");
  const auto admit = [&](std::string_view origin) {
    HttpRequest head;
    head.method = "POST";
    head.path = path;
    head.authorization = "Bearer admin";
    head.origin = origin;
    return handler().admit(
        head, [&](std::uint64_t lane, bool) { return !busy || !Lanes::is_last(lane); });
  };
  EXPECT_EQ(admit("").turned_away, TurnedAway::kNoTime);
  const HttpAdmission page = admit("https://shop.example");
  EXPECT_EQ(page.turned_away, TurnedAway::kNo) << "it needs a whole answer";
  EXPECT_TRUE(page.refused);
  EXPECT_EQ(tokens, 0);
  ahead = false;
  EXPECT_EQ(admit("").turned_away, TurnedAway::kNo);
  EXPECT_EQ(tokens, 1) << "others do not notice it";
  ahead = true;
  busy = false;
  EXPECT_EQ(admit("").turned_away, TurnedAway::kNo);
  EXPECT_EQ(tokens, 2);
}

TEST_F(ApiTest, WhatWaitsForTheLogMayWaitForLongerThanOthers) {
  for (const auto& [path, patient] : std::vector<std::pair<std::string, bool>>{
           {books("/clicks"), true}, {books("/items"), true}, {books("/rank"), false}}) {
    HttpRequest head;
    head.method = "POST";
    head.path = path;
    head.authorization = "Bearer admin";
    std::vector<bool> asked;
    const HttpAdmission admission = handler().admit(head, [&](std::uint64_t, bool is_patient) {
      asked.push_back(is_patient);
      return true;
    });
    EXPECT_EQ(admission.patient, patient) << path;
    EXPECT_FALSE(asked.empty()) << path;
    EXPECT_EQ(std::count(asked.begin(), asked.end(), !patient), 0) << path;
  }
}

TEST_F(ApiTest, WhoComesTooFastIsTurnedAwayUnlessItNeedsAWholeAnswer) {
  std::int64_t wait_ms = 1000;
  ApiOptions limited = options();
  limited.collection_limit = [&](std::string_view, bool) {
    return RateVerdict{.wait_ms = wait_ms, .ahead = true};
  };
  use(limited);
  const auto admit = [&](std::string_view method, const std::string& path,
                         std::string_view origin = {}) {
    HttpRequest head;
    head.method = method;
    head.path = path;
    head.authorization = "Bearer admin";
    head.origin = origin;
    return handler().admit(head, [](std::uint64_t, bool) { return true; }).turned_away;
  };
  EXPECT_EQ(admit("POST", books("/rank")), TurnedAway::kTooMany);
  EXPECT_EQ(admit("POST", books("/rank"), "https://shop.example"), TurnedAway::kNo);
  EXPECT_EQ(admit("PUT", std::string(kBooks)), TurnedAway::kNo) << "the audit log hears of it";
  wait_ms = 1001;
  EXPECT_EQ(admit("POST", books("/rank")), TurnedAway::kNo) << "it is told to wait for longer";
  const std::string metrics = ask("GET", "/metrics").body;
  EXPECT_NE(metrics.find("hindsight_refused_total{reason=\"collection_rate\"} 1"),
            std::string::npos);
}

TEST_F(ApiTest, OnlySoManyClicksWaitForTheLog) {
  ApiOptions few = options();
  few.max_waiting = 4;
  use(few);
  const std::string click = R"({"clicks":[{"decision":"d_1","item":"b1"}]})";
  engine.answer_later = true;
  int waiting = 0;
  std::optional<Answer> refused;
  for (int i = 0; i < 10 && !refused; ++i) {
    refused = ask_now("POST", books("/clicks"), {.body = click});
    waiting += refused ? 0 : 1;
  }
  ASSERT_TRUE(refused);
  EXPECT_GT(waiting, 0);
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->at("/error/code"), "overloaded");
  EXPECT_EQ(refused->header("Retry-After"), "1");
  HttpRequest head;
  const std::string path = books("/clicks");
  head.method = "POST";
  head.path = path;
  head.authorization = "Bearer admin";
  EXPECT_TRUE(handler().admit(head, [](std::uint64_t, bool) { return true; }).refused)
      << "from the header on";
  engine.answer_later = false;
  EXPECT_EQ(ask("POST", books("/rank"), {.body = R"({"candidates":["a"]})"}).status, 200)
      << "ranking does not wait for the log";
  for (const auto& answer_now : std::exchange(engine.waiting, {})) {
    answer_now();
  }
  EXPECT_EQ(ask("POST", books("/clicks"), {.body = click}).status, 200);
}

TEST_F(ApiTest, WhatTheServerCannotTakeIsToldWhenToComeBack) {
  HttpRequest request;
  const std::string path = books("/rank");
  request.method = "POST";
  request.path = path;
  request.peer = "192.0.2.1";
  request.overload = Overload::kWaiting;
  request.wait_ms = 2500;
  std::vector<int> statuses;
  std::string retry_after;
  for (const char* key : {"Bearer admin", "Bearer wrong"}) {
    request.authorization = key;
    handler().handle(request, [&](HttpResponse response) {
      statuses.push_back(response.status);
      for (const auto& [name, value] : response.headers) {
        retry_after = name == "Retry-After" ? value : retry_after;
      }
    });
  }
  EXPECT_EQ(statuses, (std::vector<int>{503, 401}));
  EXPECT_EQ(retry_after, "3");
}

// The access log.

TEST_F(ApiTest, WhatNamesTheServersFilesIsForItsLogAlone) {
  std::vector<std::string> details;
  ApiOptions logging = options();
  logging.log = [&](const AccessRecord& record) { details.emplace_back(record.detail); };
  use(logging);
  for (const ErrorCode code : {ErrorCode::kIo, ErrorCode::kCorrupt}) {
    engine.fail_with = Error{code, "/secret/hindsight.db: disk full", "/secret"};
    const Answer answer = ask("POST", books("/rank"), {.body = R"({"candidates":["a"]})"});
    EXPECT_EQ(answer.at("/error/code"), error_info(code).name);
    EXPECT_EQ(answer.body.find("secret"), std::string::npos) << answer.body;
    EXPECT_NE(details.back().find("/secret/hindsight.db: disk full"), std::string::npos);
  }
  engine.fail_with = Error{ErrorCode::kConflict, "there is one already", ""};
  EXPECT_EQ(ask("PUT", kBooks, {.body = "{}"}).at("/error/message"), "there is one already");
  EXPECT_EQ(details.back(), "");
}

TEST_F(ApiTest, TheLogHasTheRouteAndTheKeysIdAndNoSecret) {
  std::vector<std::string> lines;
  std::int64_t now_ns = 0;
  ApiOptions logging = options();
  logging.clock = [&] { return now_ns += 1'000'000; };
  logging.log = [&](const AccessRecord& record) {
    lines.push_back(std::string(record.method) + ' ' + std::string(record.route) + ' ' +
                    std::to_string(record.status) + ' ' + std::string(record.error) + ' ' +
                    std::string(record.key) + ' ' + std::string(record.peer));
    EXPECT_DOUBLE_EQ(record.seconds, 1e-3);
  };
  use(logging);
  ask("GET", books("/items/secret"), {.query = "cursor=secret"});
  ask("GET", "/secret", {.key = "secret"});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "GET /v1/collections/{c}/items/{id} 404 unknown_item id-of-admin 192.0.2.1");
  EXPECT_EQ(lines[1], "GET  404 not_found  192.0.2.1");
}

}  // namespace
}  // namespace hindsight
