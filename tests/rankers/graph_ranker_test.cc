#include <gtest/gtest.h>

#include <cmath>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "tests/support/stream.h"

namespace hindsight {
namespace {

std::unique_ptr<Ranker> linked(const char* name, const std::vector<std::vector<ItemIndex>>& links) {
  auto ranker = *make_ranker(name, {{"refresh", 1.0}});
  for (std::size_t i = 0; i < links.size(); ++i) {
    Item item = testing::plain_item(static_cast<ItemIndex>(i));
    item.links = links[i];
    EXPECT_TRUE(ranker->add_items(std::span(&item, 1)).ok());
  }
  return ranker;
}

// Items 0 and 1 are cited by 2, 3, 4; 0 also by 5. A^T A of the cited two is [[4, 3], [3, 3]].
TEST(Hits, AuthorityIsTheLeadingEigenvector) {
  const auto ranker = linked("hits", {{}, {}, {0, 1}, {0, 1}, {0, 1}, {0}});
  const double lambda = (7.0 + std::sqrt(37.0)) / 2.0;
  EXPECT_NEAR(ranker->item_score(0) / ranker->item_score(1), (lambda - 3.0) / 3.0, 1e-6);
  EXPECT_EQ(ranker->item_score(5), 0.0);
}

TEST(PageRank, IsTheStationaryLawOfTheSurfer) {
  const auto ranker = linked("pagerank", {{}, {0}, {0, 1}, {1}});
  double sum = 0.0;
  for (ItemIndex i = 0; i < 4; ++i) {
    sum += ranker->item_score(i);
  }
  EXPECT_NEAR(sum, 1.0, 1e-9);
  // Item 0 has no links: the surfer restarts there.
  const double base = (0.15 + 0.85 * ranker->item_score(0)) / 4;
  EXPECT_NEAR(ranker->item_score(3), base, 1e-8);
  EXPECT_NEAR(ranker->item_score(2), base, 1e-8);
  EXPECT_NEAR(ranker->item_score(1), base + 0.85 * (base / 2 + base), 1e-8);
  EXPECT_NEAR(ranker->item_score(0),
              base + 0.85 * (ranker->item_score(1) + ranker->item_score(2) / 2), 1e-8);
}

// Item 0 is cited once each by two items, item 1 five times by one: no authority can be bought by
// repeating a link.
TEST(GraphRankers, LinksAreASet) {
  for (const char* name : {"hits", "pagerank"}) {
    const auto ranker = linked(name, {{}, {}, {0}, {0}, {1, 1, 1, 1, 1, 4}});
    EXPECT_GT(ranker->item_score(0), ranker->item_score(1)) << name;
  }
}

TEST(GraphRankers, RefreshOnlyAfterEnoughNewEdges) {
  auto ranker = *make_ranker("pagerank", {{"refresh", 3.0}});
  for (ItemIndex i = 0; i < 4; ++i) {
    Item item = testing::plain_item(i);
    if (i > 0) {
      item.links = {0};
    }
    ASSERT_TRUE(ranker->add_items(std::span(&item, 1)).ok());
    EXPECT_EQ(ranker->item_score(0) > 0.0, i == 3) << i;
  }
}

TEST(GraphRankers, LearnFromCoPicksWhereTheGraphIsThatOfSessions) {
  for (const char* name : {"hits", "pagerank"}) {
    auto ranker = *make_ranker(name, {{"refresh", 1.0}, {"graph", std::string("copicks")}});
    Signals signals;
    for (ItemIndex i = 0; i < 4; ++i) {
      const Item item = testing::plain_item(i);
      ASSERT_TRUE(ranker->add_items(std::span(&item, 1)).ok());
      signals.item_added(i, 0);
    }
    std::uint64_t session = 0;
    for (const std::vector<ItemIndex>& together :
         {std::vector<ItemIndex>{0, 1}, {0, 1}, {0, 2}, {0, 1}}) {
      ++session;
      for (const ItemIndex item : together) {
        signals.picked(item, 0, session, 0);
      }
    }
    const std::vector<ItemIndex> candidates = {0, 1, 2, 3};
    Request request;
    request.candidates = candidates;
    request.k = 4;
    Rng rng(1);
    const auto decision = ranker->rank(request, signals, rng);
    ASSERT_TRUE(decision.ok());
    Feedback feedback;
    feedback.clicked = {3};
    ASSERT_TRUE(ranker->learn(*decision, feedback, signals).ok());
    EXPECT_GT(ranker->item_score(0), ranker->item_score(1)) << name;
    EXPECT_GT(ranker->item_score(1), ranker->item_score(2)) << name;
    EXPECT_GT(ranker->item_score(2), ranker->item_score(3)) << name;
  }
}

}  // namespace
}  // namespace hindsight
