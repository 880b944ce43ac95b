// How another ranker would have done on a log, against worlds of which everything is known.

#include "src/engine/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "src/core/sorted_policy.h"
#include "tests/engine_support/engine_world.h"
#include "tests/engine_support/written_log.h"

namespace hindsight {
namespace {

using Kind = CandidateSet::Kind;
using List = std::vector<std::uint32_t>;

Evaluation evaluated(WrittenLog& log, const std::string& ranker, const ParamMap& params = {}) {
  const auto done =
      evaluate(log.store(), log.log(), {.ranker = ranker, .params = params}, EvaluateOptions{});
  EXPECT_TRUE(done.ok()) << to_string(done.error());
  return done.ok() ? done->evaluation : Evaluation{};
}

std::map<std::string, std::uint64_t> left_out(const PolicyEstimate& estimate) {
  return {estimate.left_out.begin(), estimate.left_out.end()};
}

// ---- Unbiased: every list and every click of a small world, each with its probability.

constexpr std::size_t kItems = 4;
constexpr std::size_t kShown = 2;
const std::vector<double> kLogged = {0.4, -0.3, 0.9, 0.0};
constexpr std::array<double, kItems> kAttraction = {0.6, 0.3, 0.1, 0.8};

/// A click on the first item depends on it alone; one on the second, on both.
double click_prob(const List& list, std::size_t place) {
  return place == 0 ? kAttraction[list[0]]
                    : kAttraction[list[1]] * (1.0 - 0.5 * kAttraction[list[0]]);
}

void for_every_list(const std::function<void(const List&)>& look) {
  for (std::uint32_t first = 0; first < kItems; ++first) {
    for (std::uint32_t second = 0; second < kItems; ++second) {
      if (first != second) {
        look({first, second});
      }
    }
  }
}

/// The targets learn from these, which are no part of the estimates: their candidates are unknown.
void write_training(WrittenLog& log) {
  const List lists[] = {{0, 1}, {2, 3}, {3, 1}, {1, 0}, {3, 0}};
  for (const List& list : lists) {
    DecisionEvent event = log.drawn(kLogged, list);
    event.candidates = {};
    log.click(log.decide(std::move(event)), list[0]);
  }
  log.close();
}

/// ln P(list) under the target's law after the training, by the definition of its policy.
double log_target(const std::string& ranker, const std::vector<double>& scores, const List& list) {
  return ranker == "klrank"          ? log_propensity_first_then_sort(scores, list)
         : ranker == "greedy-klrank" ? log_propensity_sorted(scores, list)
                                     : log_propensity_plackett_luce(scores, list);
}

std::vector<double> scores_after_training(const std::string& ranker) {
  WrittenLog log(kItems);
  write_training(log);
  const auto done = evaluate(log.store(), log.log(), {.ranker = ranker, .params = {}}, {});
  std::vector<double> scores;
  for (ItemIndex item = 0; item < kItems; ++item) {
    scores.push_back(done->folded.model->ranker().item_score(item));
  }
  return scores;
}

struct Values {
  double first = 0.0;
  double ndcg = 0.0;
};

class Unbiased : public ::testing::TestWithParam<std::string> {};

TEST_P(Unbiased, TheExpectationOfInversePropensityIsTheTruth) {
  const std::string ranker = GetParam();
  const std::vector<double> scores = scores_after_training(ranker);
  Values truth;
  Values expectation;
  for_every_list([&](const List& list) {
    const double logged = std::exp(log_propensity_plackett_luce(kLogged, list));
    const double target = std::exp(log_target(ranker, scores, list));
    for (const std::uint32_t clicks : {0U, 1U, 2U, 3U}) {
      double prob = 1.0;
      WrittenLog log(kItems);
      write_training(log);
      const DecisionId id = log.decide(log.drawn(kLogged, list));
      for (std::uint32_t place = 0; place < kShown; ++place) {
        const bool clicked = (clicks >> place & 1U) != 0;
        prob *= clicked ? click_prob(list, place) : 1.0 - click_prob(list, place);
        if (clicked) {
          log.click(id, list[place]);
        }
      }
      const Evaluation said = evaluated(log, ranker);
      ASSERT_EQ(said.first_click.decisions, 1U);
      ASSERT_EQ(said.ndcg.decisions, 1U);
      // A list that the target would never show earns nothing: there is no estimate of it alone.
      const auto value = [](const PolicyEstimate& estimate) {
        return estimate.inverse_propensity ? estimate.inverse_propensity->value : 0.0;
      };
      expectation.first += logged * prob * value(said.first_click);
      expectation.ndcg += logged * prob * value(said.ndcg);
      const double ndcg = (clicks & 1U) != 0   ? 1.0
                          : (clicks & 2U) != 0 ? 1.0 / std::log2(3.0)
                                               : 0.0;
      truth.first += target * prob * ((clicks & 1U) != 0 ? 1.0 : 0.0);
      truth.ndcg += target * prob * ndcg;
    }
  });
  EXPECT_NEAR(expectation.first, truth.first, 1e-9);
  EXPECT_NEAR(expectation.ndcg, truth.ndcg, 1e-9);
  EXPECT_GT(truth.ndcg, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Rankers, Unbiased,
                         ::testing::Values("noregret-klrank", "klrank", "greedy-klrank", "random"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// ---- A long log: how often intervals hold the truth.

/// 400 decisions of a log whose clicks are drawn, for a target that learns nothing.
Evaluation of_a_simulated_log(std::uint64_t seed) {
  WrittenLog log(kItems, "random");
  Rng rng(seed);
  for (int i = 0; i < 400; ++i) {
    const List list = draw_plackett_luce(kLogged, kShown, rng).value();
    const DecisionId id = log.decide(log.drawn(kLogged, list));
    for (std::size_t place = 0; place < kShown; ++place) {
      if (rng.uniform() < click_prob(list, place)) {
        log.click(id, list[place]);
      }
    }
  }
  log.close();
  return evaluated(log, "random");
}

// 100 logs with fixed seeds: a share of 0.95 has a standard error of 0.022, and 87 or fewer hits
// come with probability 0.0017 of a chance that was not fixed.
TEST(Evaluate, IntervalsHoldTheTruthOfASimulatedWorld) {
  double truth = 0.0;
  for (const double attraction : kAttraction) {
    truth += attraction / kItems;
  }
  int inverse = 0;
  int normalised = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const PolicyEstimate said = of_a_simulated_log(seed).first_click;
    ASSERT_EQ(said.support, Support::kEnough);
    ASSERT_EQ(said.decisions, 400U);
    const auto holds = [&](const Estimate& e) { return e.low <= truth && truth <= e.high; };
    inverse += holds(*said.inverse_propensity) ? 1 : 0;
    normalised += holds(*said.self_normalised) ? 1 : 0;
    EXPECT_NEAR(said.mean_weight, 1.0, 0.2);
  }
  EXPECT_GE(inverse, 88);
  EXPECT_GE(normalised, 88);
}

// ---- Support.

TEST(Evaluate, ListsOfWhichOnlyTheFirstItemIsDrawnTellNothingOfWholeLists) {
  WrittenLog log(kItems);
  for (int i = 0; i < 3; ++i) {
    log.decide(log.drawn(kLogged, {0, 1}, "klrank"));
  }
  const Evaluation said = evaluated(log, "random");
  EXPECT_EQ(said.ndcg.support, Support::kNone);
  EXPECT_NE(said.ndcg.reason.find("only the first item"), std::string::npos) << said.ndcg.reason;
  EXPECT_FALSE(said.ndcg.inverse_propensity || said.ndcg.self_normalised || said.ndcg.logged);
  EXPECT_EQ(left_out(said.ndcg), (std::map<std::string, std::uint64_t>{{"first_slot_log", 3}}));
  EXPECT_EQ(said.first_click.decisions, 3U);
}

TEST(Evaluate, SortedListsTellNothing) {
  WrittenLog log(kItems);
  log.decide(log.drawn(kLogged, {0, 1}, "greedy-klrank"));
  const Evaluation said = evaluated(log, "random");
  EXPECT_EQ(said.first_click.support, Support::kNone);
  EXPECT_EQ(said.ndcg.support, Support::kNone);
  EXPECT_NE(said.first_click.reason.find("sorted, not drawn"), std::string::npos);
}

// Lists of onlinerank with sort=quicksort, shown whole, and of fpl.
TEST(Evaluate, ListsWithoutALawOfTheirFirstItemTellOfWholeListsAtMost) {
  WrittenLog log(kItems);
  for (int i = 0; i < 3; ++i) {
    DecisionEvent event = log.drawn(kLogged, {0, 1}, "onlinerank");
    event.decision.prob_first.clear();
    log.click(log.decide(std::move(event)), 0);
  }
  const Evaluation said = evaluated(log, "random");
  EXPECT_EQ(said.first_click.support, Support::kNone);
  EXPECT_NE(said.first_click.reason.find("no probability to divide by"), std::string::npos);
  EXPECT_EQ(left_out(said.first_click),
            (std::map<std::string, std::uint64_t>{{"no_logged_propensity", 3}}));
  EXPECT_EQ(said.ndcg.decisions, 3U);
  EXPECT_EQ(left_out(evaluated(log, "fpl").ndcg),
            (std::map<std::string, std::uint64_t>{{"ranker_has_no_law", 3}}));
  EXPECT_EQ(evaluated(log, "fpl").replay_cost.unpriced, 3U);
}

TEST(Evaluate, AnEmptyLogSaysSo) {
  WrittenLog log(kItems);
  const Evaluation said = evaluated(log, "random");
  EXPECT_EQ(said.first_click.support, Support::kNone);
  EXPECT_EQ(said.first_click.reason, "there are no decisions in the log");
  EXPECT_EQ(said.replay_cost.clicks, 0U);
  EXPECT_EQ(said.from, 1U);
  EXPECT_EQ(said.through, log.head());
}

TEST(Evaluate, ARankerThatWouldNeverShowTheListsHasNoSupport) {
  WrittenLog log(kItems);
  write_training(log);
  // After the training the target sorts; one list that is not its own.
  const std::vector<double> scores = scores_after_training("greedy-klrank");
  const auto worst =
      static_cast<std::uint32_t>(std::min_element(scores.begin(), scores.end()) - scores.begin());
  log.decide(log.drawn(kLogged, {worst, (worst + 1) % 4}));
  const Evaluation said = evaluated(log, "greedy-klrank");
  EXPECT_EQ(said.first_click.decisions, 1U);
  EXPECT_EQ(said.first_click.support, Support::kNone);
  EXPECT_EQ(said.first_click.reason, "the ranker would never have shown what was shown");
}

TEST(Evaluate, FewDecisionsAreWeakSupport) {
  WrittenLog log(kItems);
  for (int i = 0; i < 20; ++i) {
    log.click(log.decide(log.drawn(kLogged, {0, 1})), 0);
  }
  EXPECT_EQ(evaluated(log, "random").first_click.support, Support::kWeak);
  // About as often as they are drawn.
  for (int i = 0; i < 60; ++i) {
    const std::uint32_t first = i < 33 ? 2 : i < 46 ? 3 : 1;
    log.click(log.decide(log.drawn(kLogged, {first, 0})), first);
  }
  EXPECT_EQ(evaluated(log, "random").first_click.support, Support::kEnough);
  WrittenLog quiet(kItems);
  for (int i = 0; i < 80; ++i) {
    quiet.decide(quiet.drawn(kLogged, {0, 1}));
  }
  EXPECT_EQ(evaluated(quiet, "random").first_click.support, Support::kWeak) << "no clicks";
}

TEST(Evaluate, ALogThatNeverTriedWhatTheRankerPrefersIsWeakSupport) {
  WrittenLog log(kItems);
  for (int i = 0; i < 300; ++i) {
    const DecisionId id =
        log.decide(log.drawn({40.0, 0.0, 0.0, 0.0}, {0, 1 + static_cast<std::uint32_t>(i) % 3}));
    if (i % 4 != 0) {
      log.click(id, 0);
    }
  }
  const Evaluation said = evaluated(log, "random");
  for (const PolicyEstimate& estimate : {said.first_click, said.ndcg}) {
    EXPECT_NEAR(estimate.mean_weight, 0.25, 1e-9);
    EXPECT_NEAR(estimate.effective_sample_size, 300.0, 1e-6) << "which tells nothing here";
    EXPECT_EQ(estimate.support, Support::kWeak);
    EXPECT_NE(estimate.reason.find("mean weight"), std::string::npos) << estimate.reason;
    EXPECT_TRUE(estimate.self_normalised) << "the figures are there";
  }
}

// ---- What is left out, and why.

TEST(Evaluate, EveryDecisionIsUsedOrCountedWithItsReason) {
  WrittenLog log(kItems);
  const auto decide = [&](const std::function<void(DecisionEvent&)>& change) {
    DecisionEvent event = log.drawn(kLogged, {0, 1});
    change(event);
    return log.decide(std::move(event));
  };
  decide([](DecisionEvent&) {});
  decide([](DecisionEvent& e) { e.control = true; });
  decide([](DecisionEvent& e) { e.candidates = {}; });
  decide([](DecisionEvent& e) { e.decision.log_propensity.reset(); });
  decide([](DecisionEvent& e) { e.decision.ranker = "of-another-time"; });
  decide([](DecisionEvent& e) { e.decision.ranker = "mcrank"; });
  decide([](DecisionEvent& e) { e.decision.prob_first[0] = 0.0; });
  decide([](DecisionEvent& e) {
    e.decision.items.clear();
    e.decision.score.clear();
    e.decision.prob_first.clear();
    e.decision.shown_count = 0;
  });
  DecisionEvent late = log.drawn(kLogged, {0, 1});
  log.remove("3");
  log.decide(std::move(late));
  const Evaluation said = evaluated(log, "random");
  EXPECT_EQ(said.decisions, 9U);
  EXPECT_EQ(left_out(said.first_click),
            (std::map<std::string, std::uint64_t>{{"control", 1},
                                                  {"candidates_not_logged", 1},
                                                  {"no_logged_propensity", 1},
                                                  {"unknown_ranker", 1},
                                                  {"deterministic_log", 1},
                                                  {"weight_out_of_range", 1},
                                                  {"nothing_shown", 1},
                                                  {"candidates_changed", 1}}));
  EXPECT_EQ(said.first_click.decisions, 1U);
  EXPECT_EQ(said.ndcg.decisions, 2U) << "the list's own probability was logged";
}

TEST(Evaluate, ARankerThatDrawsAgainHasNoLawOfLists) {
  WrittenLog log(kItems);
  log.decide(log.drawn(kLogged, {0, 1}));
  const Evaluation said = evaluated(log, "noregret-klrank", {{"redraw", true}});
  EXPECT_EQ(left_out(said.first_click),
            (std::map<std::string, std::uint64_t>{{"ranker_has_no_law", 1}}));
}

TEST(Evaluate, ARankerThatRefusesARequestIsNotJudgedByIt) {
  WrittenLog log(kItems);
  log.decide(log.drawn(kLogged, {0}));
  const Evaluation said = evaluated(log, "klrank");
  EXPECT_EQ(left_out(said.first_click),
            (std::map<std::string, std::uint64_t>{{"ranker_refuses", 1}}));
}

TEST(Evaluate, ReferencesAreToTheItemsOfTheDecisionsModel) {
  for (const Kind kind : {Kind::kTopic, Kind::kLibrary}) {
    WrittenLog log(kItems);
    const auto by_reference = [&] {
      DecisionEvent event = log.drawn(kLogged, {2, 1});
      event.candidates = {.kind = kind};
      return event;
    };
    DecisionEvent overtaken = by_reference();
    log.decide(by_reference());
    log.add_items(kItems, kItems + 1);
    log.decide(std::move(overtaken));  // made before the fifth item, logged after it
    const Evaluation said = evaluated(log, "random");
    EXPECT_EQ(left_out(said.ndcg),
              (std::map<std::string, std::uint64_t>{{"candidates_changed", 1}}));
    ASSERT_EQ(said.ndcg.decisions, 1U);
    const double logged = std::exp(log_propensity_plackett_luce(kLogged, List{2, 1}));
    EXPECT_NEAR(said.ndcg.max_weight, 1.0 / 12.0 / logged, 1e-9);
  }
}

TEST(Evaluate, PriorsOfARequestCountForTheTargetToo) {
  WrittenLog log(kItems);
  DecisionEvent event = log.drawn(kLogged, {0, 1});
  event.candidates.prior = {1.0, 0.0, 0.0, 0.0};
  log.decide(std::move(event));
  const Evaluation said = evaluated(log, "noregret-klrank");
  const double e = std::exp(1.0);
  std::vector<double> logged(kItems);
  first_slot_probs(kLogged, logged);
  EXPECT_NEAR(said.first_click.max_weight, e / (e + 3.0) / logged[0], 1e-9);
}

// ---- Clicks.

TEST(Evaluate, ClicksCountOnceWithinTheirWindow) {
  WrittenLog log(kItems);
  const DecisionId one = log.decide(log.drawn(kLogged, {0, 1}));
  log.click(one, 1);
  log.click(one, 1);
  const DecisionId two = log.decide(log.drawn(kLogged, {0, 1}));
  log.click(two, 1);
  log.click(two, 0);
  const DecisionId three = log.decide(log.drawn(kLogged, {0, 1}));
  log.close();
  log.click(three, 0);
  log.decide(log.drawn(kLogged, {0, 1}));
  const Evaluation said = evaluated(log, "random");
  EXPECT_EQ(said.clicks, 3U);
  EXPECT_EQ(said.open_decisions, 1U);
  EXPECT_NEAR(said.first_click.logged->value, 0.25, 1e-12);
  EXPECT_NEAR(said.ndcg.logged->value, (1.0 / std::log2(3.0) + 1.0) / 4.0, 1e-12);
}

TEST(Evaluate, TheTargetHasLearnedWhatCameBeforeADecisionAndNothingAfter) {
  WrittenLog before(kItems);
  write_training(before);
  before.decide(before.drawn(kLogged, {3, 0}));
  WrittenLog after(kItems);
  after.decide(after.drawn(kLogged, {3, 0}));
  write_training(after);
  std::vector<double> logged(kItems);
  first_slot_probs(kLogged, logged);
  std::vector<double> learned(kItems);
  first_slot_probs(scores_after_training("noregret-klrank"), learned);
  ASSERT_GT(std::abs(learned[3] - 0.25), 0.01);
  EXPECT_NEAR(evaluated(before, "noregret-klrank").first_click.max_weight, learned[3] / logged[3],
              1e-9);
  EXPECT_NEAR(evaluated(after, "noregret-klrank").first_click.max_weight, 0.25 / logged[3], 1e-9);
}

// ---- Cost.

TEST(Evaluate, TheReplayCostIsThatOfTheRegretAccount) {
  WrittenLog log(kItems);
  write_training(log);
  for (const char* ranker : {"noregret-klrank", "klrank"}) {
    const Evaluation said = evaluated(log, ranker);
    ASSERT_TRUE(said.regret) << ranker;
    EXPECT_EQ(said.replay_cost.clicks, 5U);
    EXPECT_EQ(said.regret->clicks, 5U);
    EXPECT_NEAR(*said.replay_cost.total, said.regret->learned_cost, 1e-12) << ranker;
    EXPECT_NEAR(*said.replay_cost.mean, said.regret->learned_cost / 5, 1e-12) << ranker;
  }
}

TEST(Evaluate, EveryRankerHasAReplayCost) {
  WrittenLog log(kItems);
  write_training(log);
  const Evaluation random = evaluated(log, "random");
  EXPECT_FALSE(random.regret);
  EXPECT_NEAR(*random.replay_cost.mean, std::log(2.0), 1e-12);
  for (const RankerInfo& info : ranker_registry()) {
    const Evaluation said = evaluated(log, std::string(info.name));
    EXPECT_EQ(said.replay_cost.clicks + said.replay_cost.unpriced, 5U) << info.name;
    EXPECT_EQ(said.replay_cost.total.has_value(), said.replay_cost.impossible == 0) << info.name;
  }
  EXPECT_GT(evaluated(log, "greedy-klrank").replay_cost.impossible, 0U);
}

// ---- The whole way: served, logged, evaluated.

TEST(Evaluate, TheRankerThatServedHasWeightsOfOne) {
  for (const char* ranker : {"noregret-klrank", "klrank", "random"}) {
    EngineWorld world;
    CollectionPatch patch;
    patch.ranker = ranker;
    patch.seed = 3;
    ASSERT_TRUE(world.put("c", patch).ok());
    ASSERT_TRUE(world.add_ids("c", {"a", "b", "c", "d", "e"}).ok());
    Rng rng(1);
    for (int i = 0; i < 60; ++i) {
      world.pass(10);
      RankInput library;
      library.k = 3;
      const auto reply =
          i % 3 == 0 ? world.rank("c", library) : world.rank_ids("c", {"e", "b", "c", "a"}, 3);
      ASSERT_TRUE(reply.ok());
      ASSERT_TRUE(world.click("c", reply->decision, reply->items[rng.below(3)].id).ok());
    }
    const std::string hash = world.stats("c").model_hash;
    const auto done = evaluate(world.store(), 1, {.ranker = ranker, .params = {}}, {});
    ASSERT_TRUE(done.ok()) << to_string(done.error());
    const PolicyEstimate& first = done->evaluation.first_click;
    EXPECT_EQ(first.decisions, 60U) << ranker;
    EXPECT_NEAR(first.max_weight, 1.0, 1e-9) << ranker;
    EXPECT_NEAR(first.mean_weight, 1.0, 1e-9) << ranker;
    EXPECT_NEAR(first.effective_sample_size, 60.0, 1e-6) << ranker;
    EXPECT_NEAR(first.inverse_propensity->value, first.logged->value, 1e-9) << ranker;
    if (done->evaluation.ndcg.support != Support::kNone) {
      EXPECT_NEAR(done->evaluation.ndcg.max_weight, 1.0, 1e-9) << ranker;
    }
    EXPECT_EQ(model_hash(done->folded.model->ranker()), hash) << "the same fold";
    EXPECT_EQ(world.stats("c").model_hash, hash) << "nothing has changed";
  }
}

TEST(Evaluate, ProgressIsToldWithinABatch) {
  WrittenLog log(kItems);
  for (int i = 0; i < 200; ++i) {
    log.decide(log.drawn(kLogged, {0, 1}));
  }
  std::vector<Position> told;
  EvaluateOptions options;
  options.progress = [&](Position position) { told.push_back(position); };
  ASSERT_TRUE(evaluate(log.store(), log.log(), {.ranker = "random", .params = {}}, options).ok());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_GE(std::count_if(told.begin(), told.end(), [&](Position one) { return one < log.head(); }),
            3);
}

TEST(Evaluate, AnUnknownRankerOrParameterIsRefused) {
  WrittenLog log(kItems);
  EXPECT_EQ(evaluate(log.store(), log.log(), {.ranker = "best", .params = {}}, {}).error().code,
            ErrorCode::kUnknownName);
  EXPECT_EQ(evaluate(log.store(), log.log(), {.ranker = "random", .params = {{"alpha", 1.0}}}, {})
                .error()
                .code,
            ErrorCode::kUnknownName);
}

}  // namespace
}  // namespace hindsight
