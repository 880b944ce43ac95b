// Every row of the registry, in its default and in its other forms, against what every ranker must
// fulfil; and proof that the checks find what is wrong.

#include "tests/support/conformance.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cctype>
#include <ostream>
#include <set>

#include "hindsight/registry.h"
#include "tests/support/probe_ranker.h"

namespace hindsight::testing {
namespace {

constexpr std::uint64_t kSeed = 20'090'701;

/// A test's name has letters, digits and _ only.
std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

Subject subject_of(const RankerInfo& info, const ParamMap& params) {
  std::string name(info.name);
  for (const auto& [key, value] : params) {
    name += "_" + key + "_" + to_string(value);
  }
  const ParamMap complete = *check_params(info, params);
  const auto has = [&](const char* param, const char* word) {
    const auto found = complete.find(param);
    return found != complete.end() && std::get<std::string>(found->second) == word;
  };
  const auto library = complete.find("library");
  const auto terms = complete.find("context_terms");
  const bool few_terms = terms != complete.end() && std::get<double>(terms->second) < 1000.0;
  const bool no_terms = terms != complete.end() &&
                        (std::get<double>(terms->second) == 0.0 || has("optimiser", "ogd"));
  return {.name = test_name(name),
          .learns = info.learns,
          .make = [&info, params] { return *make_ranker(info.name, params); },
          .sublinear = info.sublinear && has("choice_set", "shown") && !has("sort", "quicksort") &&
                       !has("noise", "uniform") &&
                       (library == complete.end() || std::get<bool>(library->second)),
          .context_keys = few_terms && !no_terms,
          .refuses_context_keys = no_terms};
}

std::vector<Subject> default_subjects() {
  std::vector<Subject> subjects;
  for (const RankerInfo& info : ranker_registry()) {
    subjects.push_back(subject_of(info, {}));
  }
  return subjects;
}

/// Values that only make sense together with others, by the parameter that they belong to.
ParamMap companions(const std::string& param, const std::string& word) {
  if (param == "phi" && word != "items") {
    return {{"feature_bound", 2.0}};
  }
  if (param == "optimiser" && word == "gp") {
    return {{"horizon", 500.0}};
  }
  if (param == "optimiser" && word == "ogd") {
    return {{"phi", std::string("features")}, {"horizon", 500.0}, {"curvature", 0.05}};
  }
  if (param == "graph") {
    return {{"refresh", 3.0}};
  }
  return {};
}

/// Every word and switch of every row that is not its default, one at a time; and the graph rankers
/// with a refresh that a short life sees.
std::vector<Subject> other_subjects() {
  std::vector<Subject> subjects;
  for (const RankerInfo& info : ranker_registry()) {
    for (const ParamSpec& spec : info.params) {
      const std::string name(spec.name);
      if (const bool* flag = std::get_if<bool>(&spec.default_value)) {
        subjects.push_back(subject_of(info, {{name, !*flag}}));
      }
      if (name == "context_terms") {
        // Few, so that pairs share weights and saves are short enough to be cut at every byte.
        subjects.push_back(subject_of(info, {{name, 5.0}}));
        ParamMap many = {{name, 40.0}, {"choice_set", std::string("candidates")}};
        if (std::any_of(info.params.begin(), info.params.end(),
                        [](const ParamSpec& other) { return other.name == "phi"; })) {
          many.insert(
              {{"phi", std::string("items+features")}, {"feature_bound", 2.0}, {"alpha", 0.5}});
        }
        subjects.push_back(subject_of(info, many));
        subjects.push_back(subject_of(info, {{name, 0.0}}));
      }
      if (name == "library") {
        subjects.push_back(subject_of(info, {{name, true}, {"context_terms", 7.0}}));
        subjects.push_back(subject_of(info, {{name, true}, {"redraw", true}}));
        subjects.push_back(subject_of(info, {{name, true}, {"restart", std::string("cold")}}));
        subjects.push_back(subject_of(info, {{name, true}, {"alpha", 1000.0}}));
      }
      if (name == "refresh") {
        subjects.push_back(subject_of(info, {{name, 3.0}}));
      }
      for (const std::string_view word : spec.words) {
        if (word != std::get<std::string>(spec.default_value)) {
          ParamMap params = companions(name, std::string(word));
          params[name] = std::string(word);
          subjects.push_back(subject_of(info, params));
        }
      }
    }
  }
  return subjects;
}

class Conformance : public ::testing::TestWithParam<std::tuple<Subject, Check>> {};

TEST_P(Conformance, Holds) {
  const auto& [subject, check] = GetParam();
  const Verdict verdict = check.run(subject, kSeed);
  EXPECT_FALSE(verdict) << *verdict;
}

std::string pair_name(const ::testing::TestParamInfo<std::tuple<Subject, Check>>& row) {
  return std::get<0>(row.param).name + "_" + std::get<1>(row.param).sentence;
}

INSTANTIATE_TEST_SUITE_P(EveryRanker, Conformance,
                         ::testing::Combine(::testing::ValuesIn(default_subjects()),
                                            ::testing::ValuesIn(conformance_checks().begin(),
                                                                conformance_checks().end())),
                         pair_name);

class ConformanceOfForms : public ::testing::TestWithParam<Subject> {};

TEST_P(ConformanceOfForms, EveryCheckHolds) {
  ASSERT_NE(GetParam().make(), nullptr);
  for (const Check& check : conformance_checks()) {
    const Verdict verdict = check.run(GetParam(), kSeed);
    EXPECT_FALSE(verdict) << check.sentence << ": " << *verdict;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryForm, ConformanceOfForms, ::testing::ValuesIn(other_subjects()),
                         [](const ::testing::TestParamInfo<Subject>& row) {
                           return row.param.name;
                         });

class ConformanceOfLives : public ::testing::TestWithParam<Subject> {};

TEST_P(ConformanceOfLives, AnyCheckHoldsInAnyLife) {
  EXPECT_TRUE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto checks = conformance_checks();
    const Check check = checks[*rc::gen::inRange<std::size_t>(0, checks.size())];
    if (!check.statistical) {
      if (const Verdict verdict = check.run(GetParam(), seed)) {
        RC_FAIL(std::string(check.sentence) + ": " + *verdict);
      }
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(EveryRanker, ConformanceOfLives, ::testing::ValuesIn(default_subjects()),
                         [](const ::testing::TestParamInfo<Subject>& row) {
                           return row.param.name;
                         });

// --- the checks themselves

/// RETURNS: the sentences that do not hold.
std::set<std::string> broken(Fault fault) {
  std::set<std::string> sentences;
  for (const Check& check : conformance_checks()) {
    if (check.run(probe_subject(fault), kSeed)) {
      sentences.insert(check.sentence);
    }
  }
  return sentences;
}

TEST(ConformanceSuite, PassesARankerThatUsesAuxAndLearnsOnClose) {
  EXPECT_EQ(broken(Fault::kNone), std::set<std::string>());
}

struct Planted {
  const char* name;
  Fault fault;
  const char* caught_by;

  friend void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }
};

class ConformanceOfFaults : public ::testing::TestWithParam<Planted> {};

TEST_P(ConformanceOfFaults, IsCaught) {
  EXPECT_EQ(broken(GetParam().fault).count(GetParam().caught_by), 1U)
      << "not caught by " << GetParam().caught_by;
}

INSTANTIATE_TEST_SUITE_P(
    Planted, ConformanceOfFaults,
    ::testing::Values(
        Planted{"ProbabilitiesThatSumTo101", Fault::kProbabilitiesSumTo101,
                "FirstSlotProbabilitiesSumToOne"},
        Planted{"ProbabilitiesUnlikeThePropensities", Fault::kProbabilitiesSumTo101,
                "PropensitiesSumToOneAndMatchTheDraws"},
        Planted{"PropensitiesThatSumTo101", Fault::kPropensityOffBy101,
                "PropensitiesSumToOneAndMatchTheDraws"},
        Planted{"DrawsUnlikeTheLaw", Fault::kDrawsUnlikeItsLaw,
                "PropensitiesSumToOneAndMatchTheDraws"},
        Planted{"StateChangedInRank", Fault::kCountsRanks, "RankIsPure"},
        Planted{"MemoryOfEarlierRanks", Fault::kRemembersRanks, "RankIsPure"},
        Planted{"StateLostOnSave", Fault::kLosesWins, "SaveLoadContinueEqualsContinue"},
        Planted{"ATruncatedSaveAccepted", Fault::kAcceptsCutSaves, "DamagedSavesAreRefused"},
        Planted{"LearningFromWhatIsRefused", Fault::kLearnsBeforeChecking,
                "RefusesBadInputAndChangesNothing"},
        Planted{"ANumberThatOverflows", Fault::kOverflows,
                "LateDuplicateAndOutOfOrderFeedbackIsSafe"}),
    [](const ::testing::TestParamInfo<Planted>& row) { return row.param.name; });

}  // namespace
}  // namespace hindsight::testing
