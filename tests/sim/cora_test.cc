// What must come out on the real growing library of [Delage09] section 5, with the default seed.
//
// The stream, the seed and the arithmetic are fixed, so that these figures do not vary from run to
// run; the intervals leave room for another seed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <thread>

#include "hindsight/registry.h"
#include "src/sim/citation_library.h"
#include "src/sim/regret_curve.h"
#include "src/sim/replay.h"
#include "tests/support/shared_data.h"

namespace hindsight {
namespace {

struct Row {
  const char* ranker;
  ParamMap params;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"noregret-klrank", {{"alpha", 3.0}}},
      {"greedy-klrank", {{"alpha", 3.0}}},
      {"klrank", {{"alpha", 3.0}}},
      {"online-ranknet", {{"alpha", 1.0}}},
      {"category-ranking", {}},
      {"hits", {}},
      {"pagerank", {}},
      {"mcrank", {}},
      {"random", {}},
  };
  return all;
}

class Cora : public ::testing::Test {
 protected:
  struct Run {
    ReplayResult result;
    std::string hash;
  };

  void SetUp() override {
    const auto folder = shared_data("cora");
    if (!folder) {
      GTEST_SKIP() << "skipped: data set cora is not there (set HINDSIGHT_DATA)";
    }
    const auto library = read_citation_library(*folder, {});
    ASSERT_TRUE(library.ok());
    stream_ = make_stream(*library);
  }

  Run run(const Row& row) const {
    ParamMap params = row.params;
    params["choice_set"] = std::string("candidates");
    auto ranker = *make_ranker(row.ranker, params);
    auto result = replay(stream_, *ranker, {});
    EXPECT_TRUE(result.ok());
    return {*std::move(result), model_hash(*ranker)};
  }

  /// Each row is run when it is first asked for.
  const Run& of(const char* ranker) {
    const auto found = runs_.find(ranker);
    if (found != runs_.end()) {
      return found->second;
    }
    const auto row = std::find_if(rows().begin(), rows().end(), [&](const Row& candidate) {
      return std::string_view(candidate.ranker) == ranker;
    });
    return runs_.emplace(ranker, run(*row)).first->second;
  }
  double kl(const char* ranker) { return of(ranker).result.metrics.kl_cost.value(); }
  double ndcg(const char* ranker) { return 100.0 * of(ranker).result.metrics.ndcg.value(); }
  double distance(const char* ranker) {
    return 100.0 * of(ranker).result.metrics.rel_distance.value();
  }

  LibraryStream stream_;
  std::map<std::string, Run, std::less<>> runs_;
};

TEST_F(Cora, HasItsQueries) { EXPECT_EQ(stream_.prefix.queries.size(), 26'842U); }

TEST_F(Cora, RandomCostsWhatItMust) {
  EXPECT_NEAR(kl("random"), 4.69, 0.01);
  EXPECT_NEAR(ndcg("random"), 21.7, 0.5);
}

TEST_F(Cora, NoRegretKlRankBeatsRandomInCost) {
  EXPECT_NEAR(kl("noregret-klrank"), 4.41, 0.05);
  EXPECT_LT(kl("noregret-klrank"), kl("random"));
}

TEST_F(Cora, GreedyKlRankAndOnlineRankNetLeadAndRandomIsLast) {
  EXPECT_GE(ndcg("greedy-klrank"), 32.0);
  EXPECT_GE(ndcg("online-ranknet"), 31.8);
  EXPECT_GE(ndcg("mcrank"), 31.5);
  for (const Row& row : rows()) {
    const std::string name = row.ranker;
    if (name != "greedy-klrank" && name != "online-ranknet") {
      EXPECT_LT(ndcg(row.ranker), ndcg("greedy-klrank")) << name;
      EXPECT_LT(ndcg(row.ranker), ndcg("online-ranknet")) << name;
    }
    if (name != "random") {
      EXPECT_GT(ndcg(row.ranker), ndcg("random")) << name;
    }
  }
}

TEST_F(Cora, KlRankHasTheCostOfNoRegretAndNearlyTheListsOfGreedy) {
  EXPECT_NEAR(kl("klrank"), kl("noregret-klrank"), 1e-9);
  EXPECT_NEAR(distance("klrank"), distance("greedy-klrank"), 1.5);
}

TEST_F(Cora, DeterministicListsCostInfinitelyMuch) {
  for (const char* name :
       {"greedy-klrank", "online-ranknet", "category-ranking", "hits", "pagerank", "mcrank"}) {
    EXPECT_TRUE(std::isinf(kl(name))) << name;
  }
}

TEST_F(Cora, BothEndsOfTheRegretBracketStayUnderBothBoundsAtEveryPowerOfTwo) {
  for (const double alpha : {1.0, 3.0, 10.0}) {
    const Run played = run({"noregret-klrank", {{"alpha", alpha}}});
    const auto curve = regret_curve(stream_.prefix, played.result.regret);
    ASSERT_EQ(curve.size(), 16U);  // 2^0 ... 2^14, and all
    for (const RegretBracket& bracket : curve) {
      EXPECT_LE(bracket.lower, bracket.upper + 1e-6) << bracket.clicks;
      EXPECT_LE(bracket.upper, bracket.data_bound) << bracket.clicks;
      EXPECT_LE(bracket.upper, bracket.theorem_bound) << bracket.clicks;
    }
    // A slack of a hundredth of a nat a click would make the bracket worthless.
    EXPECT_LE(curve.back().certificate, 0.01 * 26'842);
  }
}

// All nine at once, each on a thread of its own: the same models, bit for bit.
TEST_F(Cora, ThreadsChangeNothing) {
  std::vector<std::thread> threads;
  std::vector<std::string> hashes(rows().size());
  for (std::size_t i = 0; i < rows().size(); ++i) {
    threads.emplace_back([&, i] { hashes[i] = run(rows()[i]).hash; });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t i = 0; i < rows().size(); ++i) {
    EXPECT_EQ(hashes[i], of(rows()[i].ranker).hash) << rows()[i].ranker;
  }
}

}  // namespace
}  // namespace hindsight
