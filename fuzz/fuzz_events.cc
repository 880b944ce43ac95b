// Events and snapshots from bytes that anyone may have written.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/core/check.h"
#include "src/engine/event.h"
#include "src/engine/fold.h"

namespace hindsight {
namespace {

CollectionConfig config() {
  CollectionConfig config;
  config.ranker = "noregret-klrank";
  config.params = *check_params(**find_ranker(config.ranker), {});
  return config;
}

Payload making() {
  return encode_event({.id = {.source = 1, .sequence = 0},
                       .clock_ms = 0,
                       .body = CollectionEvent{.config = config(), .history = History::kDiscard}});
}

// The bytes are a log: each entry a 16-bit length and so many bytes. Whatever decodes is folded.
void fold_all(std::span<const std::byte> bytes) {
  Fold fold(
      [](Position) -> Result<DecisionCache::Shared> {
        return Error{ErrorCode::kCorrupt, "not kept", ""};
      },
      std::size_t{1} << 20);
  auto model = fold.begin({.position = 1, .payload = making()});
  HINDSIGHT_CHECK(model.ok());
  Position position = 1;
  while (bytes.size() >= 2) {
    const std::size_t length =
        static_cast<std::size_t>(bytes[0]) + 256 * static_cast<std::size_t>(bytes[1]);
    bytes = bytes.subspan(2);
    const auto payload = bytes.first(std::min(length, bytes.size()));
    bytes = bytes.subspan(payload.size());
    const Result<Event> event = decode_event(payload);
    if (!event.ok()) {
      continue;
    }
    HINDSIGHT_CHECK(decode_event(encode_event(*event)).ok());
    const auto applied =
        fold.apply({.position = ++position, .payload = Payload(payload.begin(), payload.end())},
                   **model, nullptr);
    if (!applied.ok()) {
      return;
    }
    const ClickCounts& counts = fold.counts();
    HINDSIGHT_CHECK(counts.received == counts.pending + counts.learned + counts.duplicate +
                                           counts.late + counts.unjoined + counts.quarantined);
  }
  (*model)->set_version(position);
}

}  // namespace
}  // namespace hindsight

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hindsight::fold_all(std::as_bytes(std::span(data, size)));
  return 0;
}
