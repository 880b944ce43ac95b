#include "src/server/json_input.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/types.h"
#include "src/server/json_output.h"
#include "src/server/json_writer.h"

namespace hindsight {
namespace {

/// A body that is refused: how, and where.
struct Refusal {
  std::string body;
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string field = {};
  std::string says = {};  // part of the message
};

std::string name_of(ErrorCode code) { return std::string(error_info(code).name); }

template <class Parse>
void expect_refused(Parse parse, const std::vector<Refusal>& cases) {
  for (const Refusal& wanted : cases) {
    SCOPED_TRACE(wanted.body.substr(0, 200));
    const auto got = parse(wanted.body);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(name_of(got.error().code), name_of(wanted.code)) << got.error().message;
    EXPECT_EQ(got.error().field, wanted.field);
    EXPECT_NE(got.error().message.find(wanted.says), std::string::npos) << got.error().message;
  }
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += text;
  }
  return out;
}

/// [x,x,x] with `count` elements, each given by its index.
template <class Element>
std::string list_of(std::size_t count, Element element) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) {
    out += i == 0 ? "" : ",";
    out += element(i);
  }
  out += ']';
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  out += text;
  out += '"';
  return out;
}

std::string quoted_number(std::size_t i) { return in_quotes(std::to_string(i)); }

/// {"0":1,"1":1,…}
std::string map_of(std::size_t count) {
  std::string out = "{";
  for (std::size_t i = 0; i < count; ++i) {
    out += i == 0 ? "" : ",";
    out += quoted_number(i);
    out += ":1";
  }
  out += '}';
  return out;
}

std::string with_candidate(const std::string& candidate) {
  return R"({"candidates":["a",)" + candidate + "]}";
}

TEST(ParseRank, ReadsEveryField) {
  const auto got = parse_rank(R"({"query":"calculus\n","candidates":["b1",{"id":"b\u00e9",
      "features":{"year":1.5,"n":2},"prior":-0.25}],"k":3,"user":"u1","session":"s1","group":"g1",
      "context_key":"c1","on_unknown":"append"})");
  ASSERT_TRUE(got.ok()) << to_string(got.error());
  EXPECT_EQ(got->query, "calculus\n");
  ASSERT_EQ(got->candidates.size(), 2U);
  EXPECT_EQ(got->candidates[0].id, "b1");
  EXPECT_EQ(got->candidates[1].id, "b\xC3\xA9");
  EXPECT_EQ(got->candidates[1].features, (NamedFeatures{{"year", 1.5}, {"n", 2.0}}));
  EXPECT_EQ(got->candidates[1].prior, -0.25);
  EXPECT_TRUE(got->has_features);
  EXPECT_TRUE(got->has_prior);
  EXPECT_EQ(got->k, 3U);
  EXPECT_EQ(got->user + got->session + got->group + got->context_key, "u1s1g1c1");
  EXPECT_EQ(got->on_unknown, OnUnknown::kAppend);
}

TEST(ParseRank, ABodyOfNothingIsRefused) {
  for (const std::string_view body :
       {std::string_view(), std::string_view(""), std::string_view(" \n")}) {
    const auto got = parse_rank(body);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().code, ErrorCode::kParse);
  }
}

TEST(ParseRank, AnEmptyObjectAsksForTheWholeLibrary) {
  const auto got = parse_rank("{}");
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->candidates.empty());
  EXPECT_TRUE(got->topic.empty());
  EXPECT_EQ(got->k, 10U);
  EXPECT_FALSE(got->has_features);
  EXPECT_FALSE(got->has_prior);
  EXPECT_FALSE(got->on_unknown.has_value());
}

TEST(ParseRank, AFurtherPageHasDecisionAndOffset) {
  const auto got = parse_rank(R"({"decision":"d_1","offset":10,"k":10})");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->decision, "d_1");
  EXPECT_EQ(got->offset, 10U);
}

TEST(ParseRank, NoCandidatesAreNoWishForTheWholeLibrary) {
  expect_refused(parse_rank, {{R"({"candidates":[]})", ErrorCode::kEmptyCandidates, "candidates"}});
}

TEST(ParseRank, TextThatIsNotJsonIsRefused) {
  const ErrorCode parse = ErrorCode::kParse;
  expect_refused(parse_rank, {{"", parse, "", "empty"},
                              {"  \n", parse, "", "empty"},
                              {"{", parse},
                              {"{}{}", parse},
                              {"{} x", parse},
                              {R"({"k":1,})", parse},
                              {R"({k:1})", parse},
                              {R"({"k":01})", parse},
                              {R"({"k":+1})", parse},
                              {R"({"k":1.})", parse},
                              {R"({"k":NaN})", parse},
                              {R"({"k":Infinity})", parse},
                              {R"({'k':1})", parse},
                              {"{\"k\":1 /* one */}", parse},
                              {"\xEF\xBB\xBF{}", parse},
                              {std::string("{}\0", 3), parse},
                              {"{\"query\":\"a\nb\"}", parse},
                              {R"({"query":"\x"})", parse},
                              {R"({"query":"\ud800"})", parse},
                              {R"({"query":"\udc00"})", parse},
                              {R"({"query":"\ud800A"})", parse},
                              {"{\"query\":\"\xFF\"}", parse, "", "UTF-8"},
                              {"{\"query\":\"\xC0\xAF\"}", parse, "", "UTF-8"},
                              {"{\"query\":\"\xED\xA0\x80\"}", parse, "", "UTF-8"},
                              {R"({"candidates":[{"id":"a","prior":1e400}]})", parse, "", "number"},
                              {R"({"k":18446744073709551616})", parse, "", "number"}});
}

TEST(ParseRank, DepthIsLimited) {
  const std::string deep = repeated("[", 33) + "1" + repeated("]", 33);
  expect_refused(parse_rank, {{R"({"query":)" + deep + "}", ErrorCode::kParse, "", "levels"},
                              {R"({"query":[[1]]})", ErrorCode::kInvalidArgument, "query"}});
  // So deep that a parser without a limit would leave its stack.
  expect_refused(parse_rank, {{repeated("[", 1'000'000), ErrorCode::kParse}});
}

TEST(ParseRank, WrongTypesAreNamedWithTheirPlace) {
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  expect_refused(parse_rank, {{"[]", invalid, "", "an object"},
                              {"null", invalid, "", "not null"},
                              {R"("k")", invalid, "", "a string"},
                              {R"({"query":1})", invalid, "query", "a string"},
                              {R"({"query":null})", invalid, "query", "not null"},
                              {R"({"k":"10"})", invalid, "k", "a whole number"},
                              {R"({"k":true})", invalid, "k", "true or false"},
                              {R"({"candidates":{}})", invalid, "candidates", "an array"},
                              {with_candidate("1"), invalid, "candidates[1]"},
                              {with_candidate("[]"), invalid, "candidates[1]"},
                              {with_candidate(R"({"id":1})"), invalid, "candidates[1].id"},
                              {with_candidate(R"({"id":"a","features":[]})"), invalid,
                               "candidates[1].features", "an object"},
                              {with_candidate(R"({"id":"a","features":{"f":"1"}})"), invalid,
                               "candidates[1].features.f", "a number"},
                              {with_candidate(R"({"id":"a","prior":"1"})"), invalid,
                               "candidates[1].prior", "a number"}});
}

TEST(ParseRank, UnknownRepeatedAndMissingFieldsAreRefused) {
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  expect_refused(parse_rank,
                 {{R"({"kk":1})", invalid, "kk", "query, candidates, topic, k"},
                  {R"({"k":1,"k":1})", invalid, "k", "twice"},
                  {R"({"k":1,"\u006b":1})", invalid, "k", "twice"},
                  {with_candidate("{}"), invalid, "candidates[1].id", "given"},
                  {with_candidate(R"({"id":"a","id":"a"})"), invalid, "candidates[1].id", "twice"},
                  {with_candidate(R"({"id":"a","score":1})"), invalid, "candidates[1].score",
                   "id, features, prior"},
                  {with_candidate(R"({"id":"a","features":{"f":1,"f":1}})"), invalid,
                   "candidates[1].features.f", "twice"}});
}

TEST(ParseRank, WishesThatContradictEachOtherAreRefused) {
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  expect_refused(parse_rank,
                 {{R"({"candidates":["a"],"topic":"t"})", invalid, "topic"},
                  {R"({"candidates":["a"],"decision":"d","offset":1})", invalid, "decision"},
                  {R"({"topic":"t","decision":"d","offset":1})", invalid, "decision"},
                  {R"({"decision":"d"})", invalid, "offset"},
                  {R"({"offset":1})", invalid, "decision"}});
}

TEST(ParseRank, NumbersKeepToTheirRange) {
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  expect_refused(parse_rank,
                 {{R"({"k":0})", invalid, "k", "1 to 10000"},
                  {R"({"k":-1})", invalid, "k"},
                  {R"({"k":1.5})", invalid, "k"},
                  {R"({"k":10001})", invalid, "k"},
                  {R"({"k":1e300})", invalid, "k"},
                  {R"({"decision":"d","offset":-1})", invalid, "offset"},
                  {R"({"decision":"d","offset":100001})", invalid, "offset"},
                  {with_candidate(R"({"id":"a","prior":1000001})"), invalid, "candidates[1].prior"},
                  {with_candidate(R"({"id":"a","prior":-1e7})"), invalid, "candidates[1].prior"}});
  EXPECT_EQ(parse_rank(R"({"k":10000})")->k, kMaxShown);
  EXPECT_EQ(parse_rank(R"({"k":3.0})")->k, 3U);
  EXPECT_EQ(parse_rank(with_candidate(R"({"id":"a","prior":1e6})"))->candidates[1].prior,
            kMaxPrior);
}

TEST(ParseRank, TextsKeepToTheirLength) {
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  const std::string long_id(kMaxIdBytes + 1, 'x');
  const std::string longest_id(kMaxIdBytes, 'x');
  const auto field = [](const std::string& name, const std::string& value) {
    return R"({")" + name + R"(":")" + value + R"("})";
  };
  std::vector<Refusal> cases = {
      {field("query", std::string(kMaxTextBytes + 1, 'q')), invalid, "query", "4096"},
      {field("topic", ""), invalid, "topic", "1 to 256"},
      {R"({"decision":"","offset":1})", invalid, "decision"},
      {with_candidate(R"("")"), invalid, "candidates[1]"},
      {with_candidate(in_quotes(long_id)), invalid, "candidates[1]"},
      {with_candidate(R"({"id":""})"), invalid, "candidates[1].id"},
      {with_candidate(R"({"id":"a","features":{"":1}})"), invalid, "candidates[1].features"}};
  for (const char* name : {"topic", "user", "session", "group", "context_key"}) {
    cases.push_back({field(name, long_id), invalid, name});
    EXPECT_TRUE(parse_rank(field(name, longest_id)).ok()) << name;
  }
  expect_refused(parse_rank, cases);
  EXPECT_TRUE(parse_rank(field("query", std::string(kMaxTextBytes, 'q'))).ok());
  EXPECT_TRUE(parse_rank(field("user", "")).ok()) << "no user";
}

TEST(ParseRank, ControlCharactersAreForQueriesOnly) {
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  for (const std::string text : {R"(a\u0000)", R"(\n)", R"(\u001b[0m)", "\x7F", R"(\u0085)"}) {
    expect_refused(parse_rank,
                   {{R"({"user":")" + text + R"("})", invalid, "user", "control"},
                    {with_candidate(in_quotes(text)), invalid, "candidates[1]", "control"}});
    EXPECT_TRUE(parse_rank(R"({"query":")" + text + R"("})").ok()) << text;
  }
  EXPECT_TRUE(parse_rank(R"({"user":"a b \u00a0 \u20ac \ud83d\ude00"})").ok());
}

TEST(ParseRank, CountsKeepToTheirLimits) {
  const auto candidates = [](std::size_t n) {
    return R"({"candidates":)" + list_of(n, quoted_number) + "}";
  };
  expect_refused(parse_rank,
                 {{candidates(kMaxCandidates + 1), ErrorCode::kTooLarge, "candidates", "100000"},
                  {with_candidate(R"({"id":"a","features":)" + map_of(1001) + "}"),
                   ErrorCode::kTooLarge, "candidates[1].features", "1000"}});
  EXPECT_EQ(parse_rank(candidates(kMaxCandidates))->candidates.size(), kMaxCandidates);
  EXPECT_EQ(parse_rank(with_candidate(R"({"id":"a","features":)" + map_of(1000) + "}"))
                ->candidates[1]
                .features.size(),
            1000U);
}

TEST(ParseRank, RepeatedFeaturesAreFoundHoweverMany) {
  for (const std::size_t n : {1U, 2U, 15U, 16U, 17U, 40U}) {
    for (const std::size_t again : {std::size_t{0}, n - 1}) {
      std::string features = map_of(n);
      features.back() = ',';
      features += quoted_number(again) + ":2}";
      expect_refused(parse_rank, {{with_candidate(R"({"id":"a","features":)" + features + "}"),
                                   ErrorCode::kInvalidArgument,
                                   "candidates[1].features." + std::to_string(again), "twice"}});
    }
  }
}

TEST(ParseRank, AHostileNameDoesNotFillTheMessage) {
  const auto got = parse_rank(R"({")" + repeated("\xE2\x82\xAC", 100'000) + R"(":1})");
  ASSERT_FALSE(got.ok());
  EXPECT_LT(got.error().field.size() + got.error().message.size(), 300U);
  // Cut between characters: the answer must stay UTF-8.
  EXPECT_EQ(got.error().field, repeated("\xE2\x82\xAC", 21) + "...");
}

TEST(ParseClicks, ReadsWhatWasClicked) {
  const auto got = parse_clicks(
      R"({"clicks":[{"decision":"d_1","item":"b1","event":"e-1"},{"item":"b2","decision":"d_2"}]})");
  ASSERT_TRUE(got.ok());
  ASSERT_EQ(got->size(), 2U);
  EXPECT_EQ((*got)[0].event, "e-1");
  EXPECT_EQ((*got)[1].decision, "d_2");
  EXPECT_EQ((*got)[1].item, "b2");
  EXPECT_EQ((*got)[1].event, "");
}

TEST(ParseClicks, ReadsPositionsAndRankings) {
  const auto got = parse_clicks(R"({"clicks":[{"decision":"d_1","position":3},)"
                                R"({"decision":"d_1","ranking":["b","a"],"event":"e"}]})");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ((*got)[0].position, 3U);
  EXPECT_EQ((*got)[0].item, "");
  EXPECT_EQ((*got)[1].ranking, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ((*got)[1].event, "e");
}

TEST(ParseClicks, RefusesWhatIsNoClick) {
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  const auto one = [](const std::string& click) { return R"({"clicks":[)" + click + "]}"; };
  const std::string many =
      R"({"clicks":)" +
      list_of(1001, [](std::size_t) { return std::string(R"({"decision":"d","item":"a"})"); }) +
      "}";
  expect_refused(
      parse_clicks,
      {{"{}", invalid, "clicks", "given"},
       {R"({"clicks":[]})", invalid, "clicks"},
       {R"({"clicks":{}})", invalid, "clicks"},
       {R"({"clicks":[],"x":1})", invalid, "clicks"},
       {R"({"x":1})", invalid, "x", "clicks"},
       {many, ErrorCode::kTooLarge, "clicks", "1000"},
       {one("1"), invalid, "clicks[0]"},
       {one("{}"), invalid, "clicks[0].decision", "given"},
       {one(R"({"decision":"d"})"), invalid, "clicks[0].item", "given"},
       {one(R"({"decision":"","item":"a"})"), invalid, "clicks[0].decision"},
       {one(R"({"decision":"d","item":1})"), invalid, "clicks[0].item"},
       {one(R"({"decision":"d","item":"a","at":1})"), invalid, "clicks[0].at"},
       {one(R"({"decision":"d","item":"a","event":")" + std::string(257, 'e') + R"("})"), invalid,
        "clicks[0].event"},
       {one(R"({"decision":"d","item":"a\u0000"})"), invalid, "clicks[0].item"},
       {one(R"({"decision":"d","item":"a","position":1})"), invalid, "clicks[0]", "one of"},
       {one(R"({"decision":"d","ranking":["a"],"position":1})"), invalid, "clicks[0]"},
       {one(R"({"decision":"d","position":0})"), invalid, "clicks[0].position"},
       {one(R"({"decision":"d","position":-1})"), invalid, "clicks[0].position"},
       {one(R"({"decision":"d","position":1.5})"), invalid, "clicks[0].position"},
       {one(R"({"decision":"d","position":10001})"), invalid, "clicks[0].position"},
       {one(R"({"decision":"d","ranking":[]})"), invalid, "clicks[0].ranking"},
       {one(R"({"decision":"d","ranking":"a"})"), invalid, "clicks[0].ranking"},
       {one(R"({"decision":"d","ranking":["a",""]})"), invalid, "clicks[0].ranking[1]"},
       {one(R"({"decision":"d","ranking":["a","b","a"]})"), ErrorCode::kDuplicateItem,
        "clicks[0].ranking[2]", "twice"}});
}

TEST(ParseItems, ReadsEveryField) {
  const auto got = parse_items(
      R"({"items":[{"id":"b1","topics":["calculus"],"features":{"year":-1e-3},"links":["b0"]},{"id":"b2"}]})");
  ASSERT_TRUE(got.ok());
  ASSERT_EQ(got->size(), 2U);
  EXPECT_EQ((*got)[0].topics, (std::vector<std::string>{"calculus"}));
  EXPECT_EQ((*got)[0].features, (NamedFeatures{{"year", -1e-3}}));
  EXPECT_EQ((*got)[0].links, (std::vector<std::string>{"b0"}));
  EXPECT_EQ((*got)[1].id, "b2");
}

TEST(ParseItems, RefusesWhatIsNoItem) {
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  const auto one = [](const std::string& item) { return R"({"items":[)" + item + "]}"; };
  const auto with = [&](const std::string& field, const std::string& value) {
    return one(R"({"id":"a",")" + field + R"(":)" + value + "}");
  };
  const std::string many =
      R"({"items":)" + list_of(10'001, [](std::size_t) { return std::string(R"({"id":"a"})"); }) +
      "}";
  expect_refused(parse_items,
                 {{"{}", invalid, "items"},
                  {R"({"items":[]})", invalid, "items"},
                  {many, ErrorCode::kTooLarge, "items", "10000"},
                  {one("{}"), invalid, "items[0].id"},
                  {one(R"("a")"), invalid, "items[0]"},
                  {with("prior", "1"), invalid, "items[0].prior", "id, topics, features, links"},
                  {with("topics", R"("t")"), invalid, "items[0].topics"},
                  {with("topics", R"(["t",1])"), invalid, "items[0].topics[1]"},
                  {with("topics", R"([""])"), invalid, "items[0].topics[0]"},
                  {with("topics", list_of(101, quoted_number)), ErrorCode::kTooLarge,
                   "items[0].topics", "100"},
                  {with("features", map_of(1001)), ErrorCode::kTooLarge, "items[0].features"},
                  {with("features", R"({"f":null})"), invalid, "items[0].features.f"},
                  {with("links", list_of(10'001, quoted_number)), ErrorCode::kTooLarge,
                   "items[0].links", "10000"}});
  EXPECT_TRUE(parse_items(with("topics", list_of(100, quoted_number))).ok());
  EXPECT_TRUE(parse_items(with("links", list_of(10'000, quoted_number))).ok());
}

TEST(ParseCollection, NothingGivenChangesNothing) {
  for (const char* body : {"", "{}"}) {
    const auto got = parse_collection(body);
    ASSERT_TRUE(got.ok());
    EXPECT_FALSE(got->ranker || got->params || got->seed || got->window_ms || got->on_unknown ||
                 got->control || got->log_queries || got->log_candidates ||
                 got->decisions_before_reply || got->max_open || got->max_scan ||
                 got->memory_budget || got->retain_days);
    EXPECT_EQ(got->history, History::kReplay);
  }
}

TEST(ParseCollection, ReadsEveryField) {
  const auto got = parse_collection(R"({"ranker":"klrank","params":{"alpha":3,"start":"warm",
      "redraw":true},"seed":18446744073709551615,"window_seconds":0.25,"on_unknown":"error",
      "control":0.05,"log_queries":true,"log_candidates":false,"decisions_before_reply":true,"max_open":5,"max_scan":6,
      "memory_budget":1048576,"retain_days":30,"history":"discard"})");
  ASSERT_TRUE(got.ok()) << to_string(got.error());
  EXPECT_EQ(got->ranker, "klrank");
  EXPECT_EQ(got->params,
            (ParamMap{{"alpha", 3.0}, {"start", std::string("warm")}, {"redraw", true}}));
  EXPECT_EQ(got->seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(got->window_ms, 250);
  EXPECT_EQ(got->on_unknown, OnUnknown::kError);
  EXPECT_EQ(got->control, 0.05);
  EXPECT_EQ(got->log_queries, true);
  EXPECT_EQ(got->log_candidates, false);
  EXPECT_EQ(got->decisions_before_reply, true);
  EXPECT_EQ(got->max_open, 5U);
  EXPECT_EQ(got->max_scan, 6U);
  EXPECT_EQ(got->memory_budget, 1048576U);
  EXPECT_EQ(got->retain_days, 30U);
  EXPECT_EQ(got->history, History::kDiscard);
}

TEST(ParseCollection, RefusesValuesOutOfRange) {
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  const auto with = [](const std::string& field, const std::string& value) {
    return R"({")" + field + R"(":)" + value + "}";
  };
  expect_refused(
      parse_collection,
      {{" ", ErrorCode::kParse},
       {with("name", R"("x")"), invalid, "name", "ranker, params, seed"},
       {with("ranker", R"("")"), invalid, "ranker"},
       {with("params", "[]"), invalid, "params"},
       {with("params", R"({"a":[]})"), invalid, "params.a"},
       {with("params", R"({"a":1,"a":2})"), invalid, "params.a", "twice"},
       {with("params", map_of(65)), ErrorCode::kTooLarge, "params"},
       {with("seed", "-1"), invalid, "seed"},
       {with("seed", "1.5"), invalid, "seed"},
       {with("seed", "18446744073709551616"), ErrorCode::kParse},
       {with("window_seconds", "0"), invalid, "window_seconds"},
       {with("window_seconds", "7776001"), invalid, "window_seconds"},
       {with("on_unknown", R"("drop")"), invalid, "on_unknown", "add or append or error"},
       {with("control", "-0.1"), invalid, "control"},
       {with("control", "1.1"), invalid, "control"},
       {with("log_queries", "1"), invalid, "log_queries"},
       {with("log_candidates", "0"), invalid, "log_candidates"},
       {with("decisions_before_reply", R"("yes")"), invalid, "decisions_before_reply"},
       {with("max_open", "0"), invalid, "max_open"},
       {with("max_scan", "1000000001"), invalid, "max_scan"},
       {with("memory_budget", "1048575"), invalid, "memory_budget"},
       {with("retain_days", "36501"), invalid, "retain_days"},
       {with("history", R"("keep")"), invalid, "history", "replay or discard"}});
}

TEST(CollectionName, HasLowerCaseLettersDigitsAndTwoSigns) {
  for (const char* name : {"a", "books", "a-b_9", "-", "0"}) {
    EXPECT_TRUE(is_collection_name(name)) << name;
  }
  for (const char* name : {"", "A", "a b", "a.b", "a/b", "\xC3\xA9", "..", "a\n"}) {
    EXPECT_FALSE(is_collection_name(name)) << name;
  }
  EXPECT_TRUE(is_collection_name(std::string(64, 'a')));
  EXPECT_FALSE(is_collection_name(std::string(65, 'a')));
}

TEST(PathId, IsHeldToTheRuleOfIds) {
  EXPECT_TRUE(check_path_id("b1/2 \xC3\xA9", "id").ok());
  for (const std::string& id :
       {std::string(), std::string(257, 'x'), std::string("a\n"), std::string("\xFF")}) {
    const auto checked = check_path_id(id, "id");
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().field, "id");
  }
}

// Round trips: what our writer says, the readers understand, whatever the texts and numbers are.

std::string any_id() {
  // From every length of UTF-8, and the signs that JSON escapes.
  static const std::vector<std::string> letters = {
      "a", "Z", "\"", "\\", "/", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  std::string id = *rc::gen::elementOf(letters);
  for (const std::string& letter : *rc::gen::resize(
           8, rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(letters)))) {
    id += letter;
  }
  return id;
}

TEST(JsonRoundTrip, ItemsComeBackAsTheyWereSent) {
  const bool ok = rc::check([] {
    std::vector<ItemInput> sent(*rc::gen::inRange<std::size_t>(1, 5));
    for (ItemInput& item : sent) {
      item.id = any_id();
      item.topics.resize(*rc::gen::inRange<std::size_t>(0, 3));
      for (std::string& topic : item.topics) {
        topic = any_id();
      }
      const auto numbers = *rc::gen::arbitrary<std::vector<double>>();
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        item.features.emplace_back(any_id() + std::to_string(i), numbers[i]);
      }
    }
    JsonWriter json;
    json.object([&] {
      json.key("items").array(sent, [&](const ItemInput& item) {
        json.object([&] {
          json.key("id").text(item.id);
          json.key("topics").texts(item.topics);
          json.key("features").object([&] {
            for (const auto& [name, value] : item.features) {
              json.key(name).number(value);
            }
          });
        });
      });
    });
    const auto got = parse_items(json.take());
    RC_ASSERT(got.ok());
    RC_ASSERT(got->size() == sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      RC_ASSERT((*got)[i].id == sent[i].id);
      RC_ASSERT((*got)[i].topics == sent[i].topics);
      RC_ASSERT((*got)[i].features == sent[i].features);
    }
  });
  EXPECT_TRUE(ok);
}

TEST(JsonRoundTrip, ASettingsAnswerIsAValidWish) {
  const bool ok = rc::check([] {
    CollectionInfo info;
    info.config.params = {{any_id(), *rc::gen::arbitrary<double>()}, {"flag", true}};
    info.config.seed = *rc::gen::arbitrary<std::uint64_t>();
    info.config.window_ms = *rc::gen::inRange<std::int64_t>(1, 7'776'000'000);
    info.config.control = *rc::gen::inRange(0, 1000) / 1000.0;
    std::string body = collection_json(info);
    // What an answer has beyond a wish.
    body.erase(1, body.find("\"ranker\"") - 1);
    body.erase(body.find(",\"era\""));
    const auto got = parse_collection(body + "}");
    RC_ASSERT(got.ok());
    RC_ASSERT(got->params == info.config.params);
    RC_ASSERT(got->seed == info.config.seed);
    RC_ASSERT(got->window_ms == info.config.window_ms);
    RC_ASSERT(got->control == info.config.control);
    RC_ASSERT(got->on_unknown == info.config.on_unknown);
  });
  EXPECT_TRUE(ok);
}

TEST(JsonRoundTrip, BrokenBodiesNeverPassAndNeverCrash) {
  const std::string whole =
      R"({"candidates":["b1",{"id":"b2","features":{"year":1.5},"prior":2}],"k":3,"user":"u"})";
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    EXPECT_FALSE(parse_rank(whole.substr(0, cut)).ok()) << cut;
  }
  const bool ok = rc::check([&] {
    std::string body = whole;
    body[*rc::gen::inRange<std::size_t>(0, body.size())] = *rc::gen::arbitrary<char>();
    (void)parse_rank(body).ok();
    (void)parse_items(body).ok();
    (void)parse_clicks(body).ok();
    (void)parse_collection(body).ok();
  });
  EXPECT_TRUE(ok);
}

}  // namespace
}  // namespace hindsight
