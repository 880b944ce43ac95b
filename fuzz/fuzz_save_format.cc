// Loads arbitrary bytes as a saved ranker, and uses what loads.
//
// Most bytes fail at the checksum, as they should; so the same bytes are tried again with the
// checksum made to fit, which is what a hostile or unlucky file could do, too. A ranker that loads
// must work like any other: it ranks, learns, and what it saves loads again as the same model.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/core/check.h"

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kMaxCandidates = 64;
constexpr std::size_t kLargeModel = std::size_t{1} << 20;
constexpr std::uint64_t kSeed = 1;

/// RETURNS: what was saved.
std::vector<std::byte> check_saves_and_loads(const hindsight::Ranker& loaded) {
  std::vector<std::byte> bytes = save_ranker(loaded);
  const auto again = hindsight::load_ranker(bytes);
  if (!again.ok()) {
    std::fprintf(stderr, "what was saved does not load: %s\n", to_string(again.error()).c_str());
  }
  HINDSIGHT_CHECK(again.ok());
  HINDSIGHT_CHECK(model_hash(**again) == model_hash(loaded));
  return bytes;
}

/// Clicks on the last item shown.
void learn_from(hindsight::Ranker& ranker, const hindsight::Signals& signals,
                const hindsight::Result<hindsight::Decision>& decision) {
  if (!decision.ok()) {
    return;
  }
  hindsight::Feedback feedback;
  feedback.decision = decision->id;
  feedback.clicked = {decision->shown().back()};
  feedback.closed = true;
  (void)ranker.learn(*decision, feedback, signals);
}

/// Ranks what is live and clicks on the last item shown. A refusal is fine, a crash is not.
void use(hindsight::Ranker& ranker) {
  hindsight::Signals signals;
  std::vector<hindsight::ItemIndex> candidates;
  for (hindsight::ItemIndex item = 0; item < ranker.items_added(); ++item) {
    signals.item_added(item, 0);
    if (ranker.is_live(item) && candidates.size() < kMaxCandidates) {
      candidates.push_back(item);
    }
  }
  hindsight::Request request;
  request.decision = {.source = 0, .counter = 1};
  request.candidates = candidates;
  request.k = std::min<std::size_t>(3, candidates.size());
  hindsight::Rng rng(kSeed);
  learn_from(ranker, signals, ranker.rank(request, signals, rng));
  const auto terms = ranker.params().find("context_terms");
  if (terms != ranker.params().end() && std::get<double>(terms->second) <= 1000.0) {
    request.context_key = 5;
    learn_from(ranker, signals, ranker.rank(request, signals, rng));
  }
  request = {.decision = request.decision, .whole_library = true, .k = request.k};
  learn_from(ranker, signals, ranker.rank(request, signals, rng));
}

void load_and_use(Bytes bytes) {
  const auto loaded = hindsight::load_ranker(bytes);
  if (!loaded.ok()) {
    HINDSIGHT_CHECK(!loaded.error().message.empty());
    return;
  }
  const std::vector<std::byte> saved = check_saves_and_loads(**loaded);
  (void)(*loaded)->describe();
  // A few bytes may name the highest feature that there can be: looked at once, for the time's
  // sake.
  if (saved.size() > kLargeModel) {
    return;
  }
  for (int round = 0; round < 2; ++round) {
    use(**loaded);
    check_saves_and_loads(**loaded);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  load_and_use(bytes);
  if (size >= sizeof(std::uint64_t)) {
    std::vector<std::byte> repaired(bytes.begin(), bytes.end());
    const std::size_t body = size - sizeof(std::uint64_t);
    const std::uint64_t checksum = XXH3_64bits(data, body);
    std::memcpy(repaired.data() + body, &checksum, sizeof(checksum));
    load_and_use(repaired);
  }
  return 0;
}
