#include "src/server/json_output.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <limits>
#include <string>

#include "src/core/intervals.h"
#include "src/server/json_reader.h"
#include "src/server/json_writer.h"
#include "src/server/stats_stream.h"
#include "tests/server/api_fixture.h"

namespace hindsight {
namespace {

std::string number_json(double value) {
  JsonWriter json;
  json.number(value);
  return json.take();
}

TEST(JsonNumbers, AreAsShortAsTheyCanBe) {
  EXPECT_EQ(number_json(0.1), "0.1");
  EXPECT_EQ(number_json(0.0), "0");
  EXPECT_EQ(number_json(-2.5), "-2.5");
  EXPECT_EQ(number_json(1e22), "1e+22");
  EXPECT_EQ(number_json(0.1 + 0.2), "0.30000000000000004");
}

TEST(JsonNumbers, ThatJsonCannotSayAreNull) {
  EXPECT_EQ(number_json(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(number_json(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(number_json(-std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonNumbers, ReadBackAsTheSameBits) {
  const bool ok = rc::check([] {
    const auto bits = *rc::gen::arbitrary<std::uint64_t>();
    double value = 0.0;
    std::memcpy(&value, &bits, sizeof(value));
    RC_PRE(std::isfinite(value) && value != 0.0);
    const auto root = parse_json("[" + number_json(value) + "]");
    RC_ASSERT(root.ok());
    double back = 0.0;
    RC_ASSERT(root->at(0).get(back) == simdjson::SUCCESS);
    RC_ASSERT(back == value);
  });
  EXPECT_TRUE(ok);
}

TEST(JsonNumbers, LargeWholeNumbersReadBackAsTheSameBits) {
  for (const double size :
       {0x1p52, 0x1p53, 0x1p62, 0x1p63, 0x1p64, 1e19, 1e20, 1e21, 1e22, 1e308}) {
    for (const double value : {size, -size, std::nextafter(size, 0.0),
                               -std::nextafter(size, std::numeric_limits<double>::infinity())}) {
      if (!std::isfinite(value)) {
        continue;
      }
      const auto root = parse_json("[" + number_json(value) + "]");
      ASSERT_TRUE(root.ok()) << number_json(value);
      double back = 0.0;
      ASSERT_EQ(root->at(0).get(back), simdjson::SUCCESS) << number_json(value);
      EXPECT_EQ(back, value) << number_json(value);
    }
  }
}

TEST(JsonTexts, ReadBackAsTheSameBytes) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) {
    all += static_cast<char>(c);
  }
  all += "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80{[:,";
  JsonWriter json;
  json.object([&] {
    json.key(all).array(std::vector<int>{1, 2}, [&](int) { json.text(all); });
    json.key("empty").object([] {});
    json.key("none").texts(std::vector<std::string>());
    json.key("").text("");
  });
  const std::string text = json.take();
  const auto root = parse_json(text);
  ASSERT_TRUE(root.ok()) << text;
  simdjson::dom::object object;
  ASSERT_EQ(root->get(object), simdjson::SUCCESS);
  ASSERT_EQ(object.size(), 4U);
  EXPECT_EQ(object.begin().key(), all);
  EXPECT_EQ(object.begin().value().at(1).get_string().value_unsafe(), all);
}

TEST(ErrorJson, LeavesOutAnEmptyFieldAndEscapesTheRest) {
  EXPECT_EQ(error_json({ErrorCode::kNotFound, "no", ""}),
            R"({"error":{"code":"not_found","message":"no"}})");
  EXPECT_EQ(error_json({ErrorCode::kParse, "a \"b\"\n", "x\\y"}),
            R"({"error":{"code":"parse_error","message":"a \"b\"\n","field":"x\\y"}})");
}

std::string ends(const std::optional<Interval>& interval) {
  return number_json(interval->low) + "," + number_json(interval->high);
}

TEST(StatsJson, HasTheShapeOfTheContract) {
  CollectionStats stats;
  stats.clicks = {.received = 21,
                  .pending = 1,
                  .learned = 2,
                  .duplicate = 3,
                  .late = 4,
                  .unjoined = 5,
                  .quarantined = 6};
  stats.decisions = 9;
  stats.ranker_arm = {.decisions = 8,
                      .clicks = 4,
                      .first_clicks = 4,
                      .ndcg_sum = 3.0,
                      .clicked = 2,
                      .ndcg_squares = 2.25};
  stats.drawn_ranker_arm = stats.ranker_arm;
  stats.ranker_arm.decisions = 16;  // twice as many as are compared
  stats.era_arm = {.decisions = 4, .clicked = 3};
  stats.choice_set = "shown";
  stats.regret = RegretSummary{.clicks = 2,
                               .learned_cost = 1.5,
                               .served_cost = 1.25,
                               .theorem_bound = 40.0,
                               .data_bound = 7.0};
  stats.quarantine_reasons = {{"item_not_shown", 6}};
  stats.build_error = Error{ErrorCode::kConflict, "dropped", "log"};
  stats.model_hash = "abc";
  stats.position = 11;
  stats.head = 12;
  stats.model = {{"step", "0.5"}};
  EXPECT_EQ(
      stats_json(stats, {.arms = true}),
      R"({"clicks":{"received":21,"pending":1,"learned":2,"duplicate":3,"late":4,"unjoined":5,)"
      R"("quarantined":6},"decisions":9,"open_decisions":0,"closed_early":0,"items":0,"era":0,)"
      R"("building":false,"build_error":"dropped","kl_cost":{"choice_set":"shown","click_rate":0.75,"clicks":2,)"
      R"("served":1.25,"learned":1.5,"hindsight":null,"regret":null,"regret_upper":null,)"
      R"("bound":40,"data_bound":7,"refresh":"on","measured":null},)"
      R"("click_rate":0.125,"first_rate":1,"ndcg":0.75,"rated_clicks":4,"arms":{"ranker":{"decisions":8,)"
      R"("clicked":2,"clicks":4,"click_rate":0.25,"click_rate_95":[)" +
          ends(wilson_interval(2, 8)) + R"(],"first_rate":1,"first_rate_95":[)" +
          ends(wilson_interval(4, 4)) +
          R"(],"ndcg":0.75,"ndcg_95":[0.75,0.75]},)"
          R"("control":{"decisions":0,"clicked":0,"clicks":0,"click_rate":null,"click_rate_95":null,)"
          R"("first_rate":null,"first_rate_95":null,"ndcg":null,"ndcg_95":null}},)"
          R"("quarantine_reasons":{"item_not_shown":6},)"
          R"("model_hash":"abc","position":11,"head":12,"snapshot_position":0,"memory_bytes":0,)"
          R"("model":{"step":"0.5"}})");
  stats.regret.reset();
  const std::string plain = stats_json(stats, {});
  EXPECT_NE(plain.find(R"("kl_cost":null)"), std::string::npos);
  EXPECT_EQ(plain.find("arms"), std::string::npos);
}

CurvePoint measured_point() {
  CurvePoint point;
  point.era = 1;
  point.time_ms = 123;
  point.position = 9;
  point.cost = RegretSummary{.clicks = 100,
                             .learned_cost = 50.0,
                             .served_cost = 49.0,
                             .theorem_bound = 400.0,
                             .data_bound = 70.0};
  point.hindsight = Hindsight{.cost = 40.0, .error = 0.5, .regret_upper = 12.0, .sample = 60};
  point.choice_set = "shown";
  point.ranker_arm = {
      .decisions = 8, .clicks = 4, .first_clicks = 1, .ndcg_sum = 3.0, .clicked = 2};
  return point;
}

TEST(StatsJson, SaysWhatWasMeasuredAndHowWell) {
  CollectionStats stats;
  stats.choice_set = "candidates";
  stats.regret = RegretSummary{.clicks = 120};
  stats.measured = measured_point();
  stats.refresh = HindsightRefresh::kDropped;
  const std::string text = stats_json(stats, {});
  EXPECT_NE(text.find(R"("choice_set":"candidates")"), std::string::npos);
  EXPECT_NE(text.find(R"("hindsight":40,"regret":10,"regret_upper":12,)"), std::string::npos);
  EXPECT_NE(text.find(R"("refresh":"dropped","measured":{"clicks":100,"served":49,"learned":50,)"
                      R"("bound":400,"data_bound":70,"sampled":true,"sample":60,"error":0.5,)"
                      R"("time_ms":123,"position":9})"),
            std::string::npos)
      << text;
}

TEST(HistoryJson, HasAMomentPerPoint) {
  EXPECT_EQ(history_json({}), R"({"points":[]})");
  CurvePoint plain;  // of a ranker without a bound
  plain.position = 3;
  plain.expert_weights = {0.25F, 0.75F};
  EXPECT_EQ(
      history_json({plain, measured_point()}),
      R"({"points":[{"era":0,"time_ms":0,"position":3,"kl_cost":null,"ranker":{"decisions":0,)"
      R"("clicked":0,"clicks":0,"first_clicks":0,"ndcg_sum":0},"control":{"decisions":0,)"
      R"("clicked":0,"clicks":0,"first_clicks":0,"ndcg_sum":0},"expert_weights":[0.25,0.75]},)"
      R"({"era":1,"time_ms":123,"position":9,"kl_cost":{"choice_set":"shown","clicks":100,"served":49,"learned":50,)"
      R"("hindsight":40,"regret":10,"regret_upper":12,"bound":400,"data_bound":70,"sampled":true,)"
      R"("sample":60,"error":0.5},"ranker":{"decisions":8,"clicked":2,"clicks":4,)"
      R"("first_clicks":1,"ndcg_sum":3},"control":{"decisions":0,"clicked":0,"clicks":0,)"
      R"("first_clicks":0,"ndcg_sum":0}}]})");
}

TEST(RankersJson, IsValidForEveryRow) {
  const auto root = parse_json(rankers_json(ranker_registry()));
  ASSERT_TRUE(root.ok());
  simdjson::dom::array rows;
  ASSERT_EQ((*root)["rankers"].get(rows), simdjson::SUCCESS);
  EXPECT_EQ(rows.size(), ranker_registry().size());
}

// The stream of stats.

class StatsStreamTest : public ApiTest {
 protected:
  std::shared_ptr<HttpStream> open() {
    const Answer answer = ask("GET", "/v1/collections/books/stream", {.key = "read"});
    EXPECT_EQ(answer.content_type, "text/event-stream");
    EXPECT_EQ(answer.header("Cache-Control"), "no-store");
    return answer.stream;
  }
};

TEST_F(StatsStreamTest, SpeaksOnlyWhenSomethingHasChanged) {
  const std::shared_ptr<HttpStream> stream = open();
  ASSERT_NE(stream, nullptr);
  const std::string first = stream->next().value();
  EXPECT_EQ(first.substr(0, 29), "event: stats\ndata: {\"clicks\":");
  EXPECT_EQ(first.substr(first.size() - 2), "\n\n");
  EXPECT_EQ(first.find('\n', 13), first.size() - 2) << "one line of data";
  EXPECT_EQ(stream->next(), "");
  engine.held["books"].stats.clicks.received = 1;
  EXPECT_NE(stream->next()->find("\"received\":1"), std::string::npos);
  EXPECT_EQ(stream->next(), "");
}

TEST_F(StatsStreamTest, SendsACommentWhenNothingHappensForLong) {
  const std::shared_ptr<HttpStream> stream = open();
  stream->next();
  int comments = 0;
  for (int i = 0; i < 30; ++i) {
    const std::string piece = stream->next().value();
    EXPECT_TRUE(piece.empty() || piece.front() == ':');
    comments += piece.empty() ? 0 : 1;
  }
  EXPECT_EQ(comments, 2);
}

TEST_F(StatsStreamTest, EndsWithTheKeyAndWithTheCollection) {
  const std::shared_ptr<HttpStream> revoked = open();
  const std::shared_ptr<HttpStream> rescoped = open();
  const std::shared_ptr<HttpStream> demoted = open();
  const std::shared_ptr<HttpStream> deleted = open();
  const Principal reader = keys.keys["read"];
  EXPECT_TRUE(deleted->next().has_value());
  keys.keys.erase("read");
  EXPECT_FALSE(revoked->next().has_value());
  keys.add("read", {.role = Role::kRead, .collections = {"films"}});
  EXPECT_FALSE(rescoped->next().has_value());
  keys.add("read", {.role = Role::kClick});
  EXPECT_FALSE(demoted->next().has_value());
  keys.keys["read"] = reader;
  engine.held.clear();
  EXPECT_FALSE(deleted->next().has_value());
}

// Metrics.

TEST(EvaluationJson, HasTheResultWhenDoneAndTheReasonWithoutSupport) {
  EvaluationJob job;
  job.choice = {.ranker = "random", .params = {{"choice_set", std::string("shown")}}};
  job.state = EvaluationJob::State::kDone;
  job.position = job.head = 12;
  Evaluation& result = job.result.emplace();
  result.from = 1;
  result.through = 12;
  result.replay_cost.impossible = 1;
  PolicyEstimate& first = result.first_click;
  first.support = Support::kEnough;
  first.left_out = {{"control", 2}};
  first.inverse_propensity = Estimate{.value = 0.5, .standard_error = 0.1, .low = 0.3, .high = 0.7};
  first.self_normalised = Estimate{.value = 0.25, .standard_error = {}, .low = 0.25, .high = 0.25};
  result.ndcg.reason = "why not";
  const std::string text = evaluation_json(job);
  const auto has = [&](const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  };
  has(R"({"state":"done","ranker":"random","params":{"choice_set":"shown"},"position":12,"head":12)");
  has(R"("replay_cost":{"clicks":0,"total":null,"mean":null,"impossible":1,"unpriced":0},"regret":null)");
  has(R"("first_click":{"status":"ok","decisions":0,"left_out":{"control":2})");
  has(R"("ips":{"value":0.5,"standard_error":0.1,"low":0.3,"high":0.7})");
  has(R"("snips":{"value":0.25,"standard_error":null,"low":null,"high":null})");
  has(R"("ndcg":{"status":"no_support","reason":"why not")");
  job.result.reset();
  job.state = EvaluationJob::State::kFailed;
  job.error = Error{ErrorCode::kConflict, "dropped", "log"};
  EXPECT_NE(evaluation_json(job).find(R"("state":"failed")"), std::string::npos);
  EXPECT_NE(evaluation_json(job).find("dropped"), std::string::npos);
  job.error = Error{ErrorCode::kCorrupt, "/var/lib/hindsight/hindsight.db is damaged", "log"};
  EXPECT_EQ(evaluation_json(job).find("/var/lib"), std::string::npos);
  EXPECT_NE(evaluation_json(job).find("its log says why"), std::string::npos);
}

class MetricsTest : public ApiTest {
 protected:
  /// The value of a line of /metrics; empty when it is not there.
  static std::string value_of(const std::string& text, const std::string& series) {
    const std::size_t at = text.find("\n" + series + " ");
    if (at == std::string::npos) {
      return "";
    }
    const std::size_t begin = at + series.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }
};

TEST_F(MetricsTest, CountRequestsByRouteAndStatus) {
  for (int i = 0; i < 3; ++i) {
    ask("POST", "/v1/collections/books/rank", {.body = "{}"});
  }
  ask("POST", "/v1/collections/books/rank", {.body = "{"});
  ask("GET", "/no/such/path");
  const Answer metrics = ask("GET", "/metrics", {.key = "read"});
  EXPECT_EQ(metrics.content_type, "text/plain; version=0.0.4; charset=utf-8");
  const std::string rank = R"(method="POST",route="/v1/collections/{c}/rank")";
  EXPECT_EQ(value_of(metrics.body, "hindsight_requests_total{" + rank + R"(,status="200"})"), "3");
  EXPECT_EQ(value_of(metrics.body, "hindsight_requests_total{" + rank + R"(,status="400"})"), "1");
  EXPECT_EQ(value_of(metrics.body, "hindsight_request_seconds_count{" + rank + "}"), "4");
  EXPECT_EQ(value_of(metrics.body,
                     R"(hindsight_requests_total{method="other",route="none",status="404"})"),
            "1");
}

TEST_F(MetricsTest, SayWhetherTheLogTakesEvents) {
  EXPECT_EQ(value_of(ask("GET", "/metrics", {.key = "read"}).body, "hindsight_ready"), "1");
  engine.stopped = Error{ErrorCode::kIo, "the disk is full", ""};
  EXPECT_EQ(value_of(ask("GET", "/metrics", {.key = "read"}).body, "hindsight_ready"), "0");
}

TEST_F(MetricsTest, DescribeEachCollection) {
  CollectionStats& stats = engine.held["books"].stats;
  stats.position = 90;
  stats.head = 100;
  stats.memory_bytes = 4096;
  stats.open_decisions = 5;
  stats.clicks.late = 2;
  stats.era = 4;
  stats.build_error = Error{ErrorCode::kConflict, "dropped", "log"};
  stats.regret = RegretSummary{.clicks = 120,
                               .learned_cost = 60.0,
                               .served_cost = 61.0,
                               .theorem_bound = 500.0,
                               .data_bound = 80.0};
  stats.measured = measured_point();
  stats.choice_set = "shown";
  stats.era_arm = {.decisions = 8, .clicked = 2};
  const auto read = [&] { return ask("GET", "/metrics", {.key = "read"}).body; };
  EXPECT_EQ(read().find("hindsight_arm_decisions_total{"), std::string::npos) << "none was drawn";
  stats.drawn_ranker_arm = {.decisions = 7, .clicks = 5, .first_clicks = 3, .clicked = 4};
  stats.drawn_control_arm = {.decisions = 6};
  const std::string text = read();
  const std::string of_books = R"({collection="books",choice_set="shown"})";
  EXPECT_EQ(value_of(text, "hindsight_click_rate" + of_books), "0.25");
  EXPECT_EQ(value_of(text, "hindsight_regret_error" + of_books), "0.5");
  EXPECT_EQ(value_of(text, "hindsight_regret_sample" + of_books), "60");
  EXPECT_EQ(value_of(text, "hindsight_regret_clicks" + of_books), "100");
  const std::string ranker = R"({collection="books",arm="ranker"})";
  EXPECT_EQ(value_of(text, "hindsight_arm_decisions_total" + ranker), "7");
  EXPECT_EQ(value_of(text, "hindsight_arm_clicked_total" + ranker), "4");
  EXPECT_EQ(value_of(text, "hindsight_arm_clicks_total" + ranker), "5");
  EXPECT_EQ(value_of(text, "hindsight_arm_first_clicks_total" + ranker), "3");
  EXPECT_EQ(value_of(text, R"(hindsight_arm_decisions_total{collection="books",arm="control"})"),
            "6");
  EXPECT_EQ(value_of(text, R"(hindsight_log_position{collection="books"})"), "90");
  EXPECT_EQ(value_of(text, R"(hindsight_learning_lag{collection="books"})"), "10");
  EXPECT_EQ(value_of(text, R"(hindsight_memory_bytes{collection="books"})"), "4096");
  EXPECT_EQ(value_of(text, R"(hindsight_open_decisions{collection="books"})"), "5");
  EXPECT_EQ(value_of(text, R"(hindsight_clicks{collection="books",outcome="late"})"), "2");
  EXPECT_EQ(value_of(text, R"(hindsight_era{collection="books"})"), "4");
  EXPECT_EQ(value_of(text, R"(hindsight_build_failed{collection="books"})"), "1");
  EXPECT_EQ(
      value_of(text, R"(hindsight_kl_cost{collection="books",kind="learned",choice_set="shown"})"),
      "60");
  EXPECT_EQ(
      value_of(text, R"(hindsight_kl_cost{collection="books",kind="served",choice_set="shown"})"),
      "61");
  EXPECT_EQ(
      value_of(text,
               R"(hindsight_kl_cost{collection="books",kind="hindsight",choice_set="shown"})"),
      "40");
  EXPECT_EQ(value_of(text, R"(hindsight_regret{collection="books",choice_set="shown"})"), "10");
  EXPECT_EQ(
      value_of(text,
               R"(hindsight_regret_bound{collection="books",kind="theorem",choice_set="shown"})"),
      "500");
  EXPECT_EQ(
      value_of(text,
               R"(hindsight_regret_bound{collection="books",kind="data",choice_set="shown"})"),
      "80");
  EXPECT_EQ(value_of(text, R"(hindsight_build_info{version="1.2.3"})"), "1");
  EXPECT_GT(std::stod(value_of(text, "process_resident_memory_bytes")), 1e6);
  engine.held.clear();
  EXPECT_EQ(ask("GET", "/metrics", {.key = "read"}).body.find("books"), std::string::npos);
}

}  // namespace
}  // namespace hindsight
