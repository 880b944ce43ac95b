// How likely a list is under a ranker's law, whoever has shown it.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hindsight/registry.h"
#include "hindsight/signals.h"

namespace hindsight {
namespace {

constexpr ItemIndex kItems = 5;

/// A ranker that has learned a few clicks on lists of three.
std::unique_ptr<Ranker> learned(std::string_view name, const ParamMap& params = {}) {
  auto ranker = *make_ranker(name, params);
  Signals signals;
  for (ItemIndex item = 0; item < kItems; ++item) {
    Item added;
    added.index = item;
    EXPECT_TRUE(ranker->add_items(std::span(&added, 1)).ok());
    signals.item_added(item, 0);
  }
  const std::vector<ItemIndex> candidates = {0, 1, 2, 3, 4};
  for (std::uint64_t i = 1; i <= 12; ++i) {
    Request request;
    request.decision = {.source = 0, .counter = i};
    request.candidates = candidates;
    request.k = 3;
    Rng rng = Rng::for_decision(1, request.decision);
    const Decision decision = *ranker->rank(request, signals, rng);
    const Feedback feedback{.decision = decision.id, .clicked = {decision.items[i % 3]}};
    EXPECT_TRUE(ranker->learn(decision, feedback, signals).ok());
  }
  return ranker;
}

Request request_of(const std::vector<ItemIndex>& candidates, std::size_t k) {
  Request request;
  request.candidates = candidates;
  request.whole_library = candidates.empty();
  request.k = k;
  return request;
}

TEST(ListProbability, SumsToOneOverAllLists) {
  const Signals signals;
  for (const RankerInfo& info : ranker_registry()) {
    if (info.law == ListLaw::kNotStated) {
      continue;
    }
    const auto ranker = learned(info.name);
    for (const std::vector<ItemIndex>& candidates :
         {std::vector<ItemIndex>{4, 0, 2}, std::vector<ItemIndex>{}}) {
      const Request request = request_of(candidates, 2);
      const std::vector<ItemIndex> all =
          candidates.empty() ? std::vector<ItemIndex>{0, 1, 2, 3, 4} : candidates;
      double lists = 0.0;
      double firsts = 0.0;
      for (const ItemIndex first : all) {
        double with_first = 0.0;
        double said = 0.0;
        for (const ItemIndex second : all) {
          if (first == second) {
            continue;
          }
          const std::vector<ItemIndex> list = {first, second};
          const auto probability = ranker->list_probability(request, signals, list);
          ASSERT_TRUE(probability.ok()) << info.name << to_string(probability.error());
          ASSERT_TRUE(probability->first && probability->log_list) << info.name;
          with_first += std::exp(*probability->log_list);
          said = *probability->first;
        }
        EXPECT_NEAR(with_first, said, 1e-9) << info.name;
        lists += with_first;
        firsts += said;
      }
      EXPECT_NEAR(lists, 1.0, 1e-9) << info.name;
      EXPECT_NEAR(firsts, 1.0, 1e-9) << info.name;
    }
  }
}

TEST(ListProbability, ARankerThatDrawsAgainKnowsNoLaw) {
  const Signals signals;
  for (const char* name : {"klrank", "noregret-klrank"}) {
    const auto ranker = learned(name, {{"redraw", true}});
    const std::vector<ItemIndex> candidates = {0, 1, 2};
    const std::vector<ItemIndex> list = {1, 2};
    const auto some = ranker->list_probability(request_of(candidates, 2), signals, list);
    ASSERT_TRUE(some.ok());
    EXPECT_FALSE(some->first || some->log_list) << name;
    const auto all = ranker->list_probability(request_of(candidates, 3), signals, list);
    ASSERT_TRUE(all.ok());
    EXPECT_TRUE(all->first && all->log_list) << "nothing is drawn again where all is shown";
  }
}

TEST(ListProbability, RefusesListsThatCannotBe) {
  const auto ranker = learned("random");
  const Signals signals;
  const std::vector<ItemIndex> candidates = {0, 1, 2};
  const auto code = [&](const Request& request, const std::vector<ItemIndex>& list) {
    const auto said = ranker->list_probability(request, signals, list);
    return said.ok() ? ErrorCode::kInternal : said.error().code;
  };
  const Request listed = request_of(candidates, 2);
  const Request library = request_of({}, 2);
  for (const Request& request : {listed, library}) {
    EXPECT_EQ(code(request, {}), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code(request, {0, 1, 2}), ErrorCode::kInvalidArgument) << "longer than k";
    EXPECT_EQ(code(request, {1, 1}), ErrorCode::kDuplicateItem);
    EXPECT_EQ(code(request, {0, 9}), ErrorCode::kUnknownItem);
  }
  EXPECT_EQ(code(listed, {0, 3}), ErrorCode::kUnknownItem) << "no candidate";
  EXPECT_EQ(code(request_of(candidates, 4), {0}), ErrorCode::kInvalidArgument) << "k above n";
}

}  // namespace
}  // namespace hindsight
