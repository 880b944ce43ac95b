// A shop of five books inside one program: rank them, learn from the clicks, keep the model.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/ranker.h"
#include "hindsight/registry.h"
#include "hindsight/signals.h"

namespace {

constexpr std::array<const char*, 5> kTitles = {"Algebra", "Botany", "Calculus", "Drawing",
                                                "Economics"};
constexpr std::uint64_t kSeed = 7;

/// The value, or the end of the program with the library's own words.
template <class T>
T value_or_exit(hindsight::Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "embed: %s\n", to_string(result.error()).c_str());
    std::exit(1);
  }
  return *std::move(result);
}

void exit_on_error(const hindsight::Result<void>& result) {
  if (!result.ok()) {
    std::fprintf(stderr, "embed: %s\n", to_string(result.error()).c_str());
    std::exit(1);
  }
}

/// Asks for an order of all books. The n-th decision can be drawn again from the seed alone.
hindsight::Decision rank_all(const hindsight::Ranker& ranker, const hindsight::Signals& signals,
                             std::uint64_t n) {
  const std::array<hindsight::ItemIndex, kTitles.size()> candidates = {0, 1, 2, 3, 4};
  hindsight::Request request;
  request.decision = {.source = 1, .counter = n};
  request.time_ms = static_cast<std::int64_t>(n) * 1000;
  request.candidates = candidates;
  request.k = candidates.size();
  hindsight::Rng rng = hindsight::Rng::for_decision(kSeed, request.decision);
  return value_or_exit(ranker.rank(request, signals, rng));
}

void print_order(const char* when, const hindsight::Decision& decision) {
  std::printf("%s:", when);
  for (const hindsight::ItemIndex item : decision.shown()) {
    std::printf(" %s", kTitles[item]);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  // Small alpha, small steps: a handful of clicks should not turn the shop around.
  const hindsight::ParamMap params = {{"alpha", 0.5}};
  auto ranker = value_or_exit(hindsight::make_ranker("greedy-klrank", params));
  hindsight::Signals signals;

  std::vector<hindsight::Item> items(kTitles.size());
  for (hindsight::ItemIndex i = 0; i < items.size(); ++i) {
    items[i].index = i;
    signals.item_added(i, 0);
  }
  exit_on_error(ranker->add_items(items));

  // Two readers in three want Drawing, the third Calculus.
  std::uint64_t n = 0;
  print_order("before", rank_all(*ranker, signals, n++));
  for (; n <= 60; ++n) {
    const hindsight::Decision decision = rank_all(*ranker, signals, n);
    const hindsight::ItemIndex wanted = n % 3 == 0 ? 2 : 3;
    const hindsight::Feedback click = {
        .decision = decision.id, .time_ms = decision.time_ms + 500, .clicked = {wanted}};
    value_or_exit(ranker->learn(decision, click, signals));
    signals.picked(wanted, click.time_ms, 0, 0);
  }
  print_order("after 60 clicks", rank_all(*ranker, signals, n));

  const std::vector<std::byte> bytes = hindsight::save_ranker(*ranker);
  const auto again = value_or_exit(hindsight::load_ranker(bytes));
  print_order("loaded again", rank_all(*again, signals, n));
  const bool same = hindsight::model_hash(*again) == hindsight::model_hash(*ranker);
  std::printf("saved %s in %zu bytes; the loaded model is %s\n", again->name().c_str(),
              bytes.size(), same ? "the same" : "DIFFERENT");
  return same ? 0 : 1;
}
