// An engine that only remembers: collections and items in maps, one canned list, counted clicks.
//
// It can be told to fail, to throw, or to answer later.
//
// Thread-safety: none; tests call it from one thread at a time.

#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/engine/engine.h"

namespace hindsight {

class FakeEngine final : public Engine {
 public:
  struct Held {
    CollectionConfig config;
    std::map<std::string, ItemInput, std::less<>> items;
    CollectionStats stats;
    std::vector<CurvePoint> history;
  };
  std::map<std::string, Held, std::less<>> held;

  std::optional<Error> fail_with;              // every call says this
  bool no_memory = false;                      // every call throws
  bool answer_later = false;                   // asynchronous calls wait in `waiting`
  std::vector<std::function<void()>> waiting;  // to be run by the test
  std::optional<Error> stopped;                // failure()
  std::optional<Error> no_turn;                // what look() says
  int looks = 0;
  int calls = 0;  // of any function that looks at a collection
  std::optional<RankInput> last_rank;
  std::vector<ClickInput> last_clicks;
  CollectionPatch last_patch;
  std::string last_user;
  EvaluationJob job;  // of every collection
  mutable bool last_with_hash = false;
  mutable std::size_t last_points = 0;
  mutable Position last_before = 0;
  mutable std::size_t last_limit = 0;

  void add(const std::string& name) { held[name].config.ranker = "klrank"; }

  std::vector<CollectionInfo> collections() const override {
    std::vector<CollectionInfo> all;
    for (const auto& [name, one] : held) {
      all.push_back(info_of(name, one));
    }
    return all;
  }

  Result<CollectionInfo> collection(std::string_view name) const override {
    const Result<const Held*> one = find(name);
    return one.ok() ? Result<CollectionInfo>(info_of(std::string(name), **one)) : one.error();
  }

  bool has_collection(std::string_view name) const override { return held.contains(name); }

  void put_collection(std::string_view name, const CollectionPatch& patch,
                      Callback<PutOutcome> done) override {
    ++calls;
    last_patch = patch;
    if (fail_with) {
      finish<PutOutcome>(*fail_with, std::move(done));
      return;
    }
    const bool is_new = held.find(name) == held.end();
    Held& one = held[std::string(name)];
    const CollectionConfig before = one.config;
    one.config.ranker = patch.ranker.value_or(before.ranker);
    one.config.params = patch.params.value_or(before.params);
    one.config.seed = patch.seed.value_or(before.seed);
    one.config.control = patch.control.value_or(before.control);
    finish<PutOutcome>(is_new                 ? PutOutcome::kCreated
                       : before == one.config ? PutOutcome::kUnchanged
                                              : PutOutcome::kChanged,
                       std::move(done));
  }

  void delete_collection(std::string_view name, Callback<void> done) override {
    const Result<const Held*> one = find(name);
    if (!one.ok()) {
      return done(one.error());
    }
    held.erase(held.find(name));
    done(Result<void>());
  }

  void look(std::string_view /*collection*/, Callback<void> at) override {
    ++looks;
    finish<void>(no_turn ? Result<void>(*no_turn) : Result<void>(), std::move(at));
  }

  void add_items(std::string_view collection, std::vector<ItemInput> items,
                 Callback<ItemsReply> done) override {
    const Result<const Held*> one = find(collection);
    if (!one.ok()) {
      finish<ItemsReply>(one.error(), std::move(done));
      return;
    }
    Held& target = held.find(collection)->second;
    ItemsReply reply;
    for (ItemInput& item : items) {
      const std::string id = item.id;
      const bool is_new = target.items.insert_or_assign(id, std::move(item)).second;
      ++(is_new ? reply.added : reply.updated);
    }
    finish<ItemsReply>(reply, std::move(done));
  }

  void remove_item(std::string_view collection, std::string_view id, Callback<void> done) override {
    const Result<ItemView> view = item(collection, id);
    if (!view.ok()) {
      finish<void>(view.error(), std::move(done));
      return;
    }
    Held& target = held.find(collection)->second;
    target.items.erase(target.items.find(id));
    finish<void>({}, std::move(done));
  }

  Result<ItemView> item(std::string_view collection, std::string_view id) const override {
    const Result<const Held*> one = find(collection);
    if (!one.ok()) {
      return one.error();
    }
    const auto found = (*one)->items.find(id);
    if (found == (*one)->items.end()) {
      return Error{ErrorCode::kUnknownItem, "there is no such item", "id"};
    }
    return view_of(found->second);
  }

  Result<Explanation> explain(std::string_view collection, std::string_view id,
                              const RankInput& wish) const override {
    const Result<ItemView> found = item(collection, id);
    if (!found.ok()) {
      return found.error();
    }
    Explanation explanation;
    explanation.score = found->score;
    explanation.prob_first = 0.25;
    explanation.parts = {
        {wish.topic + "/" + wish.session + "/" + wish.group + "/" + wish.context_key, 2.0, 0.5,
         1.0}};
    explanation.experts = {{"only", 1.0, 0.25, 3.5}};
    return explanation;
  }

  Result<ItemPage> items(std::string_view collection, std::string_view cursor,
                         std::size_t limit) const override {
    const Result<const Held*> one = find(collection);
    if (!one.ok()) {
      return one.error();
    }
    ItemPage page;
    const auto& all = (*one)->items;
    for (auto at = all.upper_bound(cursor); at != all.end(); ++at) {
      if (page.items.size() == limit) {
        page.next_cursor = page.items.back().id;
        break;
      }
      page.items.push_back(view_of(at->second));
    }
    return page;
  }

  /// Those of items(), from the last to the first.
  Result<ItemPage> top_items(std::string_view collection, std::size_t limit) const override {
    Result<ItemPage> page = items(collection, "", 1000);
    if (page.ok()) {
      std::reverse(page->items.begin(), page->items.end());
      page->items.resize(std::min(limit, page->items.size()));
    }
    return page;
  }

  void rank(std::string_view collection, RankInput input, Callback<RankReply> done) override {
    const Result<const Held*> one = find(collection);
    last_rank = input;
    if (!one.ok()) {
      finish<RankReply>(one.error(), std::move(done));
      return;
    }
    RankReply reply;
    reply.decision = "d_1";
    reply.candidates = input.candidates.size();
    for (const CandidateInput& candidate : input.candidates) {
      if (reply.items.size() < input.k) {
        reply.items.push_back({candidate.id, 0.5, 0.25, false});
      }
    }
    reply.log_propensity = -1.5;
    reply.model_version = 7;
    finish<RankReply>(reply, std::move(done));
  }

  void click(std::string_view collection, std::vector<ClickInput> clicks,
             Callback<ClicksReply> done) override {
    const Result<const Held*> one = find(collection);
    last_clicks = clicks;
    if (!one.ok()) {
      finish<ClicksReply>(one.error(), std::move(done));
      return;
    }
    ClickCounts& counts = held.find(collection)->second.stats.clicks;
    counts.received += clicks.size();
    counts.learned += clicks.size();
    finish<ClicksReply>(ClicksReply{.accepted = clicks.size()}, std::move(done));
  }

  Result<CollectionStats> stats(std::string_view collection, bool with_hash) const override {
    last_with_hash = with_hash;
    const Result<const Held*> one = find(collection);
    if (!one.ok()) {
      return one.error();
    }
    CollectionStats stats = (*one)->stats;
    stats.items = (*one)->items.size();
    stats.model_hash = with_hash ? "00ff" : "";
    return stats;
  }

  Result<std::vector<CurvePoint>> history(std::string_view collection,
                                          std::size_t points) const override {
    last_points = points;
    const Result<const Held*> one = find(collection);
    return one.ok() ? Result<std::vector<CurvePoint>>((*one)->history) : one.error();
  }

  Result<DecisionView> decision(std::string_view collection,
                                std::string_view decision) const override {
    const Result<const Held*> one = find(collection);
    if (!one.ok()) {
      return one.error();
    }
    if (decision != "d_1") {
      return Error{ErrorCode::kNotFound, "there is no such decision", "decision"};
    }
    DecisionView view;
    view.decision = decision;
    view.ranker = "klrank";
    view.items = {{"b1", 0.5, 0.25, false}};
    view.clicked = {"b1"};
    return view;
  }

  Result<std::vector<DecisionView>> decisions(std::string_view collection, Position before,
                                              std::size_t limit) const override {
    last_before = before;
    last_limit = limit;
    const Result<DecisionView> one = decision(collection, "d_1");
    return one.ok() ? Result<std::vector<DecisionView>>(std::vector<DecisionView>{*one})
                    : one.error();
  }

  void erase_user(std::string_view collection, std::string_view user,
                  Callback<std::uint64_t> done) override {
    const Result<const Held*> one = find(collection);
    last_user = user;
    finish<std::uint64_t>(
        one.ok() ? Result<std::uint64_t>(std::uint64_t{3}) : Result<std::uint64_t>(one.error()),
        std::move(done));
  }

  Result<EvaluationJob> start_evaluation(std::string_view collection,
                                         const RankerChoice& choice) override {
    const Result<const Held*> one = find(collection);
    if (!one.ok()) {
      return one.error();
    }
    job.choice = choice;
    job.head = 9;
    return job;
  }
  Result<EvaluationJob> evaluation(std::string_view collection) const override {
    const Result<const Held*> one = find(collection);
    return one.ok() ? Result<EvaluationJob>(job) : one.error();
  }
  Result<EvaluationJob> cancel_evaluation(std::string_view collection) override {
    job.state = EvaluationJob::State::kCancelled;
    return evaluation(collection);
  }

  std::optional<Error> failure() const override { return stopped; }
  void tick() override {}
  Result<void> snapshot_all() override { return {}; }
  void settle() override {}

 private:
  Result<const Held*> find(std::string_view name) const {
    ++const_cast<FakeEngine*>(this)->calls;
    if (no_memory) {
      throw std::bad_alloc();
    }
    if (fail_with) {
      return *fail_with;
    }
    const auto found = held.find(name);
    if (found == held.end()) {
      return Error{ErrorCode::kNotFound, "the engine has no such collection", "collection"};
    }
    return &found->second;
  }

  static CollectionInfo info_of(const std::string& name, const Held& one) {
    CollectionInfo info;
    info.name = name;
    info.config = one.config;
    info.items = one.items.size();
    return info;
  }

  static ItemView view_of(const ItemInput& item) {
    ItemView view;
    view.id = item.id;
    view.topics = item.topics;
    view.features = item.features;
    view.links = item.links;
    return view;
  }

  template <class T>
  void finish(Result<T> result, Callback<T> done) {
    if (answer_later) {
      waiting.push_back([result, done] { done(result); });
    } else {
      done(std::move(result));
    }
  }
};

}  // namespace hindsight
