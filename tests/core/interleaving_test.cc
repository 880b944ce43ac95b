#include "src/core/interleaving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace hindsight {
namespace {

using Places = std::vector<std::uint32_t>;

DocumentOrder random_order(std::size_t n, Rng& rng) {
  DocumentOrder order(n);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    std::swap(order[i], order[i + rng.below(n - i)]);
  }
  return order;
}

enum class Way { kTeamDraft, kBalanced, kProbabilistic };
constexpr Way kWays[] = {Way::kTeamDraft, Way::kBalanced, Way::kProbabilistic};

struct Duel {
  Interleaved list;
  std::array<double, 2> credit = {0.0, 0.0};
};

// One list and the credit of a user who clicks each of the `liked` documents.
template <class Likes>
Duel duel(Way way, const DocumentOrder& a, const DocumentOrder& b, std::size_t k, Likes likes,
          Rng& rng) {
  Duel made;
  const std::vector<DocumentOrder> both = {a, b};
  made.list = way == Way::kTeamDraft  ? team_draft(both, k, rng)
              : way == Way::kBalanced ? balanced_interleaving(a, b, k, rng)
                                      : probabilistic_interleaving(a, b, k, rng);
  Places clicked;
  for (std::uint32_t i = 0; i < k; ++i) {
    if (likes(made.list.list[i])) {
      clicked.push_back(i);
    }
  }
  if (way == Way::kTeamDraft) {
    const auto credit = team_credit(made.list.team, clicked, 2);
    made.credit = {static_cast<double>(credit[0]), static_cast<double>(credit[1])};
  } else {
    made.credit = way == Way::kBalanced ? balanced_credit(a, b, made.list.list, clicked)
                                        : probabilistic_credit(a, b, made.list.list, clicked);
  }
  return made;
}

TEST(Interleaving, EveryListHoldsDistinctDocumentsAndTheBestOfSomeRanking) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + rng.below(12);
    const std::size_t k = 1 + rng.below(n);
    const DocumentOrder a = random_order(n, rng);
    const DocumentOrder b = random_order(n, rng);
    for (const Way way : kWays) {
      const Interleaved made = duel(
                                   way, a, b, k, [](std::uint32_t) { return false; }, rng)
                                   .list;
      EXPECT_EQ(made.list.size(), k);
      EXPECT_EQ(made.team.size(), k);
      EXPECT_EQ(std::set<std::uint32_t>(made.list.begin(), made.list.end()).size(), k);
      if (way != Way::kProbabilistic) {
        EXPECT_EQ(made.list[0], made.team[0] == 0 ? a[0] : b[0]);
      }
    }
  }
}

TEST(Interleaving, TeamsPickTheirBestRemainingDocumentAndStayEquallyLarge) {
  Rng rng(2);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + rng.below(15);
    const std::size_t teams = 2 + rng.below(5);
    std::vector<DocumentOrder> rankings;
    for (std::size_t i = 0; i < teams; ++i) {
      rankings.push_back(random_order(n, rng));
    }
    const Interleaved made = team_draft(rankings, n, rng);
    std::vector<int> size(teams, 0);
    std::set<std::uint32_t> taken;
    for (std::size_t i = 0; i < n; ++i) {
      const DocumentOrder& own = rankings[made.team[i]];
      const auto best = std::find_if(own.begin(), own.end(),
                                     [&](std::uint32_t d) { return taken.count(d) == 0; });
      EXPECT_EQ(made.list[i], *best);
      taken.insert(made.list[i]);
      ++size[made.team[i]];
      EXPECT_LE(*std::max_element(size.begin(), size.end()),
                *std::min_element(size.begin(), size.end()) + 1);
    }
  }
}

// The joint law of two rankings' teams in a round is that of one coin: of four lists of two
// documents, each is equally likely. 8,000 draws; a false alarm beyond 6 standard errors, 2e-9.
TEST(Interleaving, CoinsOfTheTeamDraftAreFair) {
  Rng rng(3);
  const std::vector<DocumentOrder> rankings = {{0, 1, 2, 3}, {0, 1, 2, 3}};
  std::map<std::vector<int>, int> seen;
  constexpr int kDraws = 8000;
  for (int i = 0; i < kDraws; ++i) {
    const auto team = team_draft(rankings, 4, rng).team;
    ++seen[std::vector<int>(team.begin(), team.end())];
  }
  ASSERT_EQ(seen.size(), 4U);
  for (const auto& [team, count] : seen) {
    EXPECT_NEAR(count, kDraws / 4.0, 6 * std::sqrt(kDraws * 0.25 * 0.75));
  }
}

// With equal rankings, and clicks that depend on the place as users' do, credit is fair in mean.
// 20,000 duels of differences within [-4, 4]; 6 standard errors of 4 / sqrt(20000).
TEST(Interleaving, NobodyIsFavouredWhenBothRankingsAreEqual) {
  Rng rng(4);
  const DocumentOrder order = {3, 1, 4, 0, 2, 5};
  constexpr int kDuels = 20'000;
  for (const Way way : kWays) {
    double difference = 0.0;
    for (int i = 0; i < kDuels; ++i) {
      const auto liked = static_cast<std::uint32_t>(rng.below(6));
      const Duel result = duel(
          way, order, order, 4, [&](std::uint32_t d) { return d == liked || d == 3; }, rng);
      difference += result.credit[0] - result.credit[1];
      if (way != Way::kTeamDraft) {
        EXPECT_EQ(result.credit[0], result.credit[1]);
      }
    }
    EXPECT_NEAR(difference / kDuels, 0.0, 6 * 4.0 / std::sqrt(kDuels));
  }
}

// Random rankings whose users click anywhere: no side gains, whatever the rankings. Balanced
// interleaving has no such promise for a fixed pair; over random pairs symmetry gives it.
TEST(Interleaving, RandomClicksFavourNobody) {
  Rng rng(5);
  constexpr int kDuels = 20'000;
  for (const Way way : kWays) {
    double difference = 0.0;
    for (int i = 0; i < kDuels; ++i) {
      const DocumentOrder a = random_order(6, rng);
      const DocumentOrder b = random_order(6, rng);
      const auto result = duel(
          way, a, b, 4, [&](std::uint32_t) { return rng.below(3) == 0; }, rng);
      difference += result.credit[0] - result.credit[1];
    }
    EXPECT_NEAR(difference / kDuels, 0.0, 6 * 4.0 / std::sqrt(kDuels));
  }
}

// The better ranking has both relevant documents on top. It never loses in mean, and wins more
// duels than it loses by far more than chance: 2,000 duels, 6 standard errors are 268.
TEST(Interleaving, TheBetterRankingWins) {
  Rng rng(6);
  const DocumentOrder good = {0, 1, 2, 3, 4, 5, 6, 7};
  const DocumentOrder bad = {7, 6, 5, 4, 3, 2, 1, 0};
  for (const Way way : kWays) {
    int wins = 0;
    for (int i = 0; i < 2000; ++i) {
      const Duel result = duel(
          way, good, bad, 4, [](std::uint32_t d) { return d < 2; }, rng);
      wins += result.credit[0] > result.credit[1] ? 1 : 0;
      wins -= result.credit[0] < result.credit[1] ? 1 : 0;
    }
    EXPECT_GT(wins, 268);
  }
}

TEST(Interleaving, MultileavingFindsTheBestOfFive) {
  Rng rng(7);
  std::vector<DocumentOrder> rankings(5);
  for (auto& ranking : rankings) {  // the relevant 0, 1 and 2 stand below the others
    ranking = random_order(10, rng);
    std::stable_partition(ranking.begin(), ranking.end(), [](std::uint32_t d) { return d >= 3; });
  }
  rankings[3] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<double> total(5, 0.0);
  for (int i = 0; i < 4000; ++i) {
    const Interleaved made = team_draft(rankings, 10, rng);
    Places clicked;
    for (std::uint32_t place = 0; place < 10; ++place) {
      if (made.list[place] < 3) {
        clicked.push_back(place);
      }
    }
    const auto credit = team_credit(made.team, clicked, 5);
    for (std::size_t j = 0; j < 5; ++j) {
      total[j] += credit[j];
    }
  }
  EXPECT_EQ(std::max_element(total.begin(), total.end()) - total.begin(), 3);
}

// [Hofmann11] section 4.2 by its definition: a sum over all assignments of places to rankings.
TEST(Interleaving, ProbabilisticCreditIsTheMeanOverAllAssignments) {
  Rng rng(8);
  for (int round = 0; round < 50; ++round) {
    const DocumentOrder a = random_order(5, rng);
    const DocumentOrder b = random_order(5, rng);
    const Interleaved made = probabilistic_interleaving(a, b, 4, rng);
    const Places clicked = {0, 2, 3};
    const auto weight = [](const DocumentOrder& order, std::uint32_t d) {
      const auto at = std::find(order.begin(), order.end(), d) - order.begin();
      return std::pow(static_cast<double>(at + 1), -3.0);
    };
    double total = 0.0;
    std::array<double, 2> expected = {0.0, 0.0};
    for (unsigned assignment = 0; assignment < 16; ++assignment) {
      double prob = 1.0;
      std::array<double, 2> clicks = {0.0, 0.0};
      for (std::size_t i = 0; i < 4; ++i) {
        const unsigned team = assignment >> i & 1U;
        const DocumentOrder& own = team == 0 ? a : b;
        double left = 0.0;
        for (const std::uint32_t d : own) {
          const auto end = made.list.begin() + static_cast<std::ptrdiff_t>(i);
          left += std::find(made.list.begin(), end, d) == end ? weight(own, d) : 0.0;
        }
        prob *= 0.5 * weight(own, made.list[i]) / left;
        clicks[team] += std::count(clicked.begin(), clicked.end(), i) > 0 ? 1.0 : 0.0;
      }
      total += prob;
      expected[0] += prob * clicks[0];
      expected[1] += prob * clicks[1];
    }
    const auto credit = probabilistic_credit(a, b, made.list, clicked);
    EXPECT_NEAR(credit[0], expected[0] / total, 1e-12);
    EXPECT_NEAR(credit[1], expected[1] / total, 1e-12);
  }
}

TEST(Interleaving, RanksAreCutAtTheLengthOfTheListAndThatChangesNoCredit) {
  Rng rng(9);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + rng.below(100);
    const std::size_t k = 1 + rng.below(n);
    const DocumentOrder a = random_order(n, rng);
    const DocumentOrder b = random_order(n, rng);
    const DocumentOrder list = balanced_interleaving(a, b, k, rng).list;
    std::array<std::vector<std::uint16_t>, 2> whole;
    for (std::size_t i = 0; i < 2; ++i) {
      const DocumentOrder& order = i == 0 ? a : b;
      const std::vector<std::uint16_t> cut = ranks_of_list(order, list);
      for (std::size_t place = 0; place < k; ++place) {
        const auto at = std::find(order.begin(), order.end(), list[place]) - order.begin();
        whole[i].push_back(static_cast<std::uint16_t>(at));
        EXPECT_EQ(cut[place], std::min<std::size_t>(whole[i][place], k));
      }
    }
    Places clicked;
    for (std::uint32_t place = 0; place < k; ++place) {
      if (rng.below(3) == 0) {
        clicked.push_back(place);
      }
    }
    EXPECT_EQ(balanced_credit(a, b, list, clicked), balanced_credit(whole[0], whole[1], clicked));
  }
}

TEST(Interleaving, BalancedCreditComparesEqualPrefixes) {
  // [Radlinski08] section 4: A = a b c d, B = b e a f; the list a b e c; clicks on b and e.
  const DocumentOrder a = {0, 1, 2, 3, 4, 5};
  const DocumentOrder b = {1, 4, 0, 5, 2, 3};
  const DocumentOrder list = {0, 1, 4, 2};
  EXPECT_EQ(balanced_credit(a, b, list, Places{1, 2}), (std::array<double, 2>{1.0, 2.0}));
  EXPECT_EQ(balanced_credit(a, b, list, Places{0}), (std::array<double, 2>{1.0, 0.0}));
  EXPECT_EQ(balanced_credit(a, b, list, Places{}), (std::array<double, 2>{0.0, 0.0}));
}

}  // namespace
}  // namespace hindsight
