#include "tests/support/world.h"

#include <algorithm>

namespace hindsight::testing {
namespace {

std::size_t below(Rng& rng, std::size_t n) { return static_cast<std::size_t>(rng.below(n)); }

double small_number(Rng& rng) { return rng.uniform() - 0.5; }

std::string described(const char* what, const Error& error) {
  return std::string(what) + " was refused: " + to_string(error);
}

}  // namespace

Item World::random_item(ItemIndex index, Rng& rng) {
  Item item;
  item.index = index;
  item.dense = {small_number(rng), small_number(rng)};
  if (rng.below(2) == 0) {
    item.sparse_index = {static_cast<std::uint32_t>(rng.below(50))};
    item.sparse_value = {small_number(rng)};
  }
  for (int i = 0; i < 2 && index > 0; ++i) {
    item.links.push_back(static_cast<ItemIndex>(rng.below(index)));
  }
  return item;
}

FeatureRows World::random_features(std::size_t rows, Rng& rng) {
  FeatureRows features{.dense_dim = 2, .row_begin = {0}};
  for (std::size_t i = 0; i < rows; ++i) {
    features.dense.push_back(small_number(rng));
    features.dense.push_back(small_number(rng));
    if (rng.below(2) == 0) {
      features.sparse_index.push_back(static_cast<std::uint32_t>(rng.below(60)));
      features.sparse_value.push_back(small_number(rng));
    }
    features.row_begin.push_back(static_cast<std::uint32_t>(features.sparse_index.size()));
  }
  return features;
}

StepOutcome World::step(Ranker& ranker) {
  Rng rng(params_.seed, ++steps_);
  time_ms_ += static_cast<std::int64_t>(rng.below(60'000));
  constexpr std::size_t kFewest = 5;
  if (live_.size() < kFewest) {
    return add(ranker, rng);
  }
  const std::uint64_t die = rng.below(100);
  if (die < 10) {
    return add(ranker, rng);
  }
  if (die < 13) {
    return replace(ranker, rng);
  }
  if (die < 18 && live_.size() > kFewest) {
    return remove(ranker, rng);
  }
  if (die < 30 && !answered_.empty()) {
    return answer_again(ranker, rng);
  }
  if (die < 55 && !open_.empty()) {
    return answer(ranker, rng, below(rng, open_.size()), die < 50);
  }
  return serve(ranker, rng);
}

std::string World::run(Ranker& ranker, std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) {
    if (StepOutcome outcome = step(ranker); !outcome.trouble.empty()) {
      return "step " + std::to_string(steps_) + ": " + outcome.trouble;
    }
  }
  return {};
}

StepOutcome World::add(Ranker& ranker, Rng& rng) {
  std::vector<Item> items;
  const std::size_t count = 1 + below(rng, 3);
  for (std::size_t i = 0; i < count; ++i) {
    items.push_back(random_item(static_cast<ItemIndex>(ranker.items_added() + i), rng));
  }
  if (const auto result = ranker.add_items(items); !result.ok()) {
    return {.trouble = described("adding items", result.error())};
  }
  for (const Item& item : items) {
    signals_.item_added(item.index, time_ms_);
    signals_.set_links(item.index, item.links);
    live_.push_back(item.index);
  }
  return {};
}

StepOutcome World::replace(Ranker& ranker, Rng& rng) {
  const Item item = random_item(live_[below(rng, live_.size())], rng);
  const auto result = ranker.add_items(std::span(&item, 1));
  return {.trouble = result.ok() ? "" : described("replacing an item", result.error())};
}

StepOutcome World::remove(Ranker& ranker, Rng& rng) {
  const std::size_t at = below(rng, live_.size());
  const ItemIndex item = live_[at];
  live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(at));
  const auto result = ranker.remove_items(std::span(&item, 1));
  return {.trouble = result.ok() ? "" : described("removing an item", result.error())};
}

StepOutcome World::serve(Ranker& ranker, Rng& rng) {
  std::vector<ItemIndex> candidates = live_;
  for (std::size_t i = candidates.size(); i > 1; --i) {
    std::swap(candidates[i - 1], candidates[below(rng, i)]);
  }
  candidates.resize(2 + below(rng, std::min(candidates.size(), params_.max_candidates) - 1));
  const FeatureRows features = random_features(candidates.size(), rng);
  std::vector<double> prior;
  if (rng.below(3) == 0) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      prior.push_back(3 * rng.normal());
    }
  }
  Request request;
  request.decision = {.source = params_.seed, .counter = steps_};
  request.time_ms = time_ms_;
  request.candidates = candidates;
  request.features = rng.below(3) == 0 ? &features : nullptr;
  request.prior = prior;
  request.k = 2 + below(rng, candidates.size() - 1);
  request.user = rng.below(5);
  request.session = rng.below(9);
  request.group = rng.below(3);
  if (params_.whole_library && rng.below(3) == 0) {
    request.candidates = {};
    request.features = nullptr;
    request.prior = {};
    request.whole_library = true;
  }
  if (params_.context_keys) {
    request.context_key = rng.below(4);
  }
  Rng draw = Rng::for_decision(params_.seed, request.decision);
  auto decision = ranker.rank(request, signals_, draw);
  if (!decision.ok()) {
    return {.trouble = described("a valid request", decision.error())};
  }
  open_.push_back({*decision});
  if (rng.below(2) == 0) {
    if (StepOutcome outcome = answer(ranker, rng, open_.size() - 1, true);
        !outcome.trouble.empty()) {
      return outcome;
    }
  }
  return {.decision = *std::move(decision)};
}

// Clicks reach a ranker as its row in the registry says: one by one, or all when the window closes.
StepOutcome World::answer(Ranker& ranker, Rng& rng, std::size_t at, bool with_clicks) {
  Served served = std::move(open_[at]);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
  served.feedback = {.decision = served.decision.id, .time_ms = time_ms_};
  served.feedback.closed = params_.learns == Learns::kOnClose || !with_clicks;
  const auto shown = served.decision.shown();
  if (with_clicks) {
    const std::size_t clicks = params_.learns == Learns::kOnClose ? 1 + below(rng, 3) : 1;
    for (std::size_t i = 0; i < clicks; ++i) {
      served.feedback.clicked.push_back(shown[below(rng, shown.size())]);
    }
  }
  answered_.push_back(served);
  return learn(ranker, served);
}

StepOutcome World::answer_again(Ranker& ranker, Rng& rng) {
  Served served = answered_[below(rng, answered_.size())];
  served.feedback.time_ms = time_ms_;
  return learn(ranker, served);
}

StepOutcome World::learn(Ranker& ranker, const Served& served) {
  const auto report = ranker.learn(served.decision, served.feedback, signals_);
  if (!report.ok()) {
    return {.trouble = described("valid feedback", report.error())};
  }
  for (const ItemIndex item : served.feedback.clicked) {
    signals_.picked(item, time_ms_, served.decision.session, served.decision.group);
  }
  return {};
}

}  // namespace hindsight::testing
