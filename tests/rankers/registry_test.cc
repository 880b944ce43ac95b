#include "hindsight/registry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace hindsight {
namespace {

TEST(Registry, NamesTheNineRankersOfTheGrowingLibraryOnce) {
  std::set<std::string_view> names;
  for (const RankerInfo& info : ranker_registry()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
  }
  for (const char* name : {"klrank", "noregret-klrank", "greedy-klrank", "online-ranknet",
                           "category-ranking", "hits", "pagerank", "mcrank", "random"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

TEST(Registry, EveryRowSaysWhatItIsAndCanBeMadeFromItsDefaults) {
  for (const RankerInfo& info : ranker_registry()) {
    EXPECT_FALSE(info.summary.empty() || info.paper.empty() || info.guarantee.empty() ||
                 info.assumptions.empty())
        << info.name;
    for (const ParamSpec& spec : info.params) {
      EXPECT_FALSE(spec.help.empty()) << info.name << "." << spec.name;
    }
    EXPECT_TRUE(make_ranker(info.name).ok()) << info.name;
  }
}

TEST(Registry, RefusesValuesOfTheWrongKindOrRangeForEveryParameter) {
  for (const RankerInfo& info : ranker_registry()) {
    for (const ParamSpec& spec : info.params) {
      std::vector<ParamValue> bad;
      if (std::holds_alternative<double>(spec.default_value)) {
        bad = {std::string("three"),    true, std::nan(""), HUGE_VAL, spec.minimum - 1.0,
               spec.maximum * 2.0 + 1.0};
        if (spec.minimum_excluded) {
          bad.emplace_back(spec.minimum);
        }
        if (spec.whole_number) {
          bad.emplace_back(spec.minimum + 0.5);
        }
      } else if (std::holds_alternative<std::string>(spec.default_value)) {
        bad = {1.0, false, std::string("no such word"), std::string()};
      } else {
        bad = {1.0, std::string("true")};
      }
      for (const ParamValue& value : bad) {
        const auto made = make_ranker(info.name, {{std::string(spec.name), value}});
        ASSERT_FALSE(made.ok()) << info.name << "." << spec.name << " = " << to_string(value);
        EXPECT_EQ(made.error().field, spec.name);
      }
    }
  }
}

TEST(Registry, UnknownNamesAreErrorsThatSayWhatThereIs) {
  const auto ranker = make_ranker("klrang");
  ASSERT_FALSE(ranker.ok());
  EXPECT_EQ(ranker.error().code, ErrorCode::kUnknownName);
  EXPECT_NE(ranker.error().message.find("klrank"), std::string::npos);
  const auto param = make_ranker("klrank", {{"alfa", 3.0}});
  ASSERT_FALSE(param.ok());
  EXPECT_EQ(param.error().code, ErrorCode::kUnknownName);
  EXPECT_EQ(param.error().field, "alfa");
}

TEST(Registry, ParametersThatExcludeEachOtherAreRefused) {
  using P = ParamMap;
  const auto code = [](const char* name, const P& params) {
    return make_ranker(name, params).error().code;
  };
  EXPECT_EQ(
      code("klrank", P{{"optimiser", std::string("ogd")}, {"horizon", 100.0}, {"curvature", 0.1}}),
      ErrorCode::kUnsupported);  // e_i has no curvature
  EXPECT_EQ(code("klrank", P{{"optimiser", std::string("gp")}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("klrank", P{{"redraw", true}, {"choice_set", std::string("candidates")}}),
            ErrorCode::kUnsupported);
  EXPECT_EQ(code("klrank", P{{"feature_bound", 0.5}}), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(make_ranker("klrank", P{{"optimiser", std::string("ogd")},
                                      {"phi", std::string("features")},
                                      {"horizon", 100.0},
                                      {"curvature", 0.1}})
                  .ok());
}

}  // namespace
}  // namespace hindsight
