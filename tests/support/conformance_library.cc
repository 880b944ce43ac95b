// Lists from the whole library.

#include <algorithm>

#include "tests/support/conformance.h"
#include "tests/support/world.h"

namespace hindsight::testing {
namespace {

Request library_request(std::size_t k, std::uint64_t counter) {
  Request request;
  request.decision = {.source = 3, .counter = counter};
  request.time_ms = 1'000'000'000;
  request.whole_library = true;
  request.k = k;
  request.group = 1;
  return request;
}

Result<Decision> draw(const Ranker& ranker, const World& world, const Request& request) {
  Rng rng = Rng::for_decision(8, request.decision);
  return ranker.rank(request, world.signals(), rng);
}

/// RETURNS: how the list of the library differs from that of all its items, named one by one.
Verdict compare_with_a_scan(const Ranker& ranker, const World& world, std::size_t k) {
  std::vector<ItemIndex> live = world.live();
  std::sort(live.begin(), live.end());
  const Request whole = library_request(k, k);
  Request listed = whole;
  listed.whole_library = false;
  listed.candidates = live;
  const auto expected = draw(ranker, world, listed);
  const auto drawn = draw(ranker, world, whole);
  if (expected.ok() != drawn.ok()) {
    return "a library is ranked where its items are not, or the other way round";
  }
  if (!expected.ok()) {
    return {};
  }
  const std::string what = difference(*expected, *drawn);
  return what.empty() ? Verdict() : "another list than that of all items, in " + what;
}

}  // namespace

Verdict check_whole_library(const Subject& subject, std::uint64_t seed) {
  const auto ranker = subject.make();
  World world({.seed = seed, .learns = subject.learns});
  for (int round = 0; round < 4; ++round) {
    if (std::string trouble = world.run(*ranker, 20); !trouble.empty()) {
      return trouble;
    }
    const std::size_t n = ranker->items_live();
    for (std::size_t k = 1; k <= n; ++k) {
      if (Verdict verdict = compare_with_a_scan(*ranker, world, k)) {
        return "k = " + std::to_string(k) + ": " + *verdict;
      }
    }
    Request limited = library_request(2, 0);
    limited.max_scan = n;
    if (!draw(*ranker, world, limited).ok()) {
      return "a library of max_scan items was refused";
    }
    limited.max_scan = n - 1;
    const auto refused = draw(*ranker, world, limited);
    if (refused.ok() || refused.error().code != ErrorCode::kTooLarge) {
      return "a scan beyond max_scan was not refused as too large";
    }
  }
  return {};
}

}  // namespace hindsight::testing
