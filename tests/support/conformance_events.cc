// Events that are valid but odd: late, repeated and extreme feedback, items that come and go.

#include <algorithm>
#include <cmath>

#include "hindsight/registry.h"
#include "tests/support/conformance.h"
#include "tests/support/world.h"

namespace hindsight::testing {
namespace {

/// RETURNS: whether every number that the model shows is finite and its save can be loaded.
Verdict check_is_sane(const Subject& subject, const Ranker& ranker, const World& world) {
  if (reloaded(subject, ranker) == nullptr) {
    return "its own save was refused";
  }
  for (const ItemIndex item : world.live()) {
    if (!std::isfinite(ranker.item_score(item))) {
      return "an item's score is not finite";
    }
  }
  Request request;
  request.candidates = world.live();
  request.k = std::min<std::size_t>(2, world.live().size());
  Rng rng(1);
  const auto decision = ranker.rank(request, world.signals(), rng);
  if (!decision.ok()) {
    return "a valid request was refused: " + to_string(decision.error());
  }
  for (const double score : decision->score) {
    if (!std::isfinite(score)) {
      return "a score is not finite";
    }
  }
  return {};
}

Result<Decision> serve(const Ranker& ranker, const World& world, std::uint64_t counter,
                       std::span<const double> prior = {}) {
  Request request;
  request.decision = {.source = 4, .counter = counter};
  request.time_ms = 1'000'000'000;
  request.candidates = world.live();
  request.prior = prior;
  request.k = world.live().size();
  Rng rng = Rng::for_decision(3, request.decision);
  return ranker.rank(request, world.signals(), rng);
}

Feedback click(const Decision& decision, std::size_t place) {
  return {.decision = decision.id, .clicked = {decision.items[place]}, .closed = true};
}

/// Feedback in every valid form that is seldom seen.
std::vector<Feedback> odd_forms(const Decision& decision) {
  const auto shown = decision.shown();
  std::vector<Feedback> forms(6, {.decision = decision.id});
  forms[0].closed = true;                           // nothing clicked
  forms[1].clicked = {shown.begin(), shown.end()};  // everything clicked, the last first
  std::reverse(forms[1].clicked.begin(), forms[1].clicked.end());
  forms[2].clicked.assign(50, shown[0]);  // one item again and again
  forms[3].time_ms = -1'000'000;          // before its own decision
  forms[3].clicked = {shown[0]};
  forms[4].grades.assign(shown.size(), 1e300);
  forms[4].full_order = {shown.begin(), shown.end()};
  forms[4].closed = true;
  forms[5] = {.decision = decision.id};  // neither clicks nor an end
  return forms;
}

/// RETURNS: the first of the calls that was refused or counted more than there was.
Verdict learn_all(Ranker& ranker, const World& world, const Decision& decision,
                  const std::vector<Feedback>& all) {
  for (const Feedback& feedback : all) {
    const auto report = ranker.learn(decision, feedback, world.signals());
    if (!report.ok()) {
      return "valid feedback was refused: " + to_string(report.error());
    }
    std::vector<ItemIndex> distinct = feedback.clicked;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (report->learned + report->ignored > std::max<std::size_t>(1, distinct.size())) {
      return "more clicks were reported than came";
    }
  }
  return {};
}

Verdict check_repeats_count_once(const Subject& subject, const Ranker& ranker, const World& world) {
  const auto decision = serve(ranker, world, 900);
  const auto once = reloaded(subject, ranker);
  const auto thrice = reloaded(subject, ranker);
  if (!decision.ok() || once == nullptr || thrice == nullptr) {
    return "a valid request or its own save was refused";
  }
  Feedback feedback = click(*decision, 0);
  Verdict verdict = learn_all(*once, world, *decision, {feedback});
  feedback.clicked.assign(3, feedback.clicked[0]);
  if (!verdict) {
    verdict = learn_all(*thrice, world, *decision, {feedback});
  }
  if (!verdict && model_hash(*once) != model_hash(*thrice)) {
    verdict = "an item that was clicked three times in one feedback counts more than once";
  }
  return verdict;
}

/// Priors beyond the limit are refused; at the limit they are learned without harm, and costs stay
/// finite.
Verdict check_extreme_priors(const Subject& subject, Ranker& ranker, const World& world) {
  for (const double size : {1e300, 1.7e308, 1.001 * kMaxPrior, kMaxPrior}) {
    for (int pattern = 0; pattern < 3; ++pattern) {
      std::vector<double> prior(world.live().size(), 0.0);
      for (std::size_t i = 0; i < prior.size(); ++i) {
        prior[i] = pattern == 0 ? size : (i % 2 == 0) == (pattern == 1) ? size : -size;
      }
      const auto decision = serve(ranker, world, 700, prior);
      if (size > kMaxPrior) {
        if (decision.ok() || decision.error().code != ErrorCode::kTooLarge) {
          return "a prior beyond the limit was not refused as too large";
        }
        continue;
      }
      if (!decision.ok()) {
        return "a prior at the limit was refused: " + to_string(decision.error());
      }
      for (const std::size_t place : {std::size_t{0}, decision->shown_count - 1}) {
        const auto report = ranker.learn(*decision, click(*decision, place), world.signals());
        if (!report.ok()) {
          return "feedback on a prior at the limit was refused: " + to_string(report.error());
        }
        if (Verdict verdict = check_is_sane(subject, ranker, world)) {
          return "after priors at the limit: " + *verdict;
        }
        const auto regret = ranker.regret_summary();
        if (regret &&
            !(std::isfinite(regret->learned_cost) && std::isfinite(regret->served_cost))) {
          return "a prior at the limit made the costs infinite";
        }
      }
    }
  }
  return {};
}

Item numbered(ItemIndex index, Rng& rng) { return World::random_item(index, rng); }

Verdict expect_unknown(const Ranker& ranker, ItemIndex item, const char* when) {
  Request request;
  request.candidates = std::span(&item, 1);
  request.k = 1;
  Rng rng(1);
  const auto decision = ranker.rank(request, Signals(), rng);
  if (decision.ok() || decision.error().code != ErrorCode::kUnknownItem) {
    return std::string("an item is ranked ") + when;
  }
  return {};
}

Verdict expect_ranks(const Ranker& ranker, std::span<const ItemIndex> items,
                     const Signals& signals) {
  Request request;
  request.candidates = items;
  request.k = items.size();
  Rng rng(1);
  const auto decision = ranker.rank(request, signals, rng);
  if (!decision.ok()) {
    return "a valid request was refused: " + to_string(decision.error());
  }
  return {};
}

/// Adds, serves, removes and adds again. RETURNS: what went wrong
Verdict check_one_generation(Ranker& ranker, Signals& signals, Rng& rng) {
  std::vector<ItemIndex> items;
  for (int i = 0; i < 4; ++i) {
    const Item item = numbered(static_cast<ItemIndex>(ranker.items_added()), rng);
    const std::size_t live_before = ranker.items_live();
    if (!ranker.add_items(std::span(&item, 1)).ok()) {
      return "an item could not be added";
    }
    signals.item_added(item.index, 0);
    items.push_back(item.index);
    if (ranker.items_live() != live_before + 1 || ranker.items_added() != item.index + 1U) {
      return "the items are counted wrongly";
    }
    if (Verdict verdict = expect_ranks(ranker, items, signals)) {
      return verdict;
    }
  }
  Request request;
  request.decision.counter = items[0];
  request.candidates = items;
  request.k = items.size();
  Rng draw(7);
  const auto open = ranker.rank(request, signals, draw);
  const std::vector<ItemIndex> rest(items.begin() + 1, items.end());
  if (!open.ok() || !ranker.remove_items(std::span(items).first(1)).ok()) {
    return "a valid request or removal was refused";
  }
  for (std::size_t place = 0; place < items.size(); ++place) {
    if (const auto report = ranker.learn(*open, click(*open, place), signals); !report.ok()) {
      return "an open decision cannot learn after a removal: " + to_string(report.error());
    }
  }
  if (Verdict verdict = expect_unknown(ranker, items[0], "after its removal")) {
    return verdict;
  }
  if (Verdict verdict = expect_ranks(ranker, rest, signals)) {
    return verdict;
  }
  return ranker.remove_items(rest).ok() ? Verdict() : "a valid removal was refused";
}

}  // namespace

Verdict check_odd_feedback(const Subject& subject, std::uint64_t seed) {
  const auto ranker = subject.make();
  World world = life_of(subject, seed);
  std::string trouble = world.run(*ranker, 40);
  std::vector<Decision> early;
  const World then = world;
  for (std::uint64_t i = 0; i < 6 && trouble.empty(); ++i) {
    auto decision = serve(*ranker, then, i);
    trouble = decision.ok() ? "" : to_string(decision.error());
    if (decision.ok()) {
      early.push_back(*std::move(decision));
    }
  }
  if (trouble.empty()) {
    trouble = world.run(*ranker, 80);
  }
  if (!trouble.empty()) {
    return trouble;
  }
  // The model has moved on; the last decision is answered first.
  for (auto decision = early.rbegin(); decision != early.rend(); ++decision) {
    if (Verdict verdict = learn_all(*ranker, world, *decision, odd_forms(*decision))) {
      return verdict;
    }
    if (Verdict verdict = check_is_sane(subject, *ranker, world)) {
      return "after odd feedback: " + *verdict;
    }
  }
  const std::vector<Feedback> again(3000, click(early[0], 0));
  if (Verdict verdict = learn_all(*ranker, world, early[0], again)) {
    return verdict;
  }
  if (Verdict verdict = check_is_sane(subject, *ranker, world)) {
    return "after the same feedback 3,000 times: " + *verdict;
  }
  if (Verdict verdict = check_repeats_count_once(subject, *ranker, world)) {
    return verdict;
  }
  return check_extreme_priors(subject, *ranker, world);
}

Verdict check_growth(const Subject& subject, std::uint64_t seed) {
  const auto ranker = subject.make();
  Signals signals;
  Rng rng(seed);
  if (Verdict verdict = expect_unknown(*ranker, 0, "of an empty library")) {
    return verdict;
  }
  for (int generation = 0; generation < 3; ++generation) {
    if (Verdict verdict = check_one_generation(*ranker, signals, rng)) {
      return verdict;
    }
    if (ranker->items_live() != 0) {
      return "an emptied library still has items";
    }
  }
  return {};
}

}  // namespace hindsight::testing
