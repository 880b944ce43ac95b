// From a store to a model: snapshots, and folding what came after.
//
// Thread-safety: pure functions over a store; each Folded has one owner at a time.

#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/engine/fold.h"
#include "src/engine/model.h"
#include "src/store/store.h"

namespace hindsight {

/// A log, folded up to some position.
struct Folded {
  std::unique_ptr<Fold> fold;
  std::unique_ptr<Model> model;
  bool anew = false;  // from the log's beginning, in place of a snapshot that knows less
};

struct FoldOptions {
  std::size_t cache_bytes = std::size_t{64} << 20;
  /// Asked now and then; true stops folding with kConflict.
  std::function<bool()> cancelled = {};
  std::function<void(std::string_view)> warn = {};
  /// Called with the position now and then.
  std::function<void(Position)> progress = {};
  /// Bytes that the model may take, looked at every 64 entries and at the end.
  std::optional<std::uint64_t> memory_budget = {};
  /// Sees what a fold with a chosen ranker meets; without one, a change of ranker would show it the
  /// log again from its beginning.
  FoldObserver* observer = nullptr;
};

/// RETURNS: the bytes of a snapshot: versioned and checksummed.
std::vector<std::byte> snapshot_bytes(const Fold& fold, const Model& model);

/// FAILS: kCorrupt, kNewerVersion
Result<Folded> load_snapshot(const LogView& store, LogId log, std::span<const std::byte> bytes,
                             const FoldOptions& options);

/// Folds entries after the fold's position, up to `through` (or the end of the log). A change of
/// ranker with `history: replay` is met by folding the log again from its beginning.
/// FAILS: as Fold::apply and Store::read; kOverBudget; as beginning_dropped (also where entries
/// that it still needs are dropped meanwhile)
Result<void> fold_forward(const LogView& store, LogId log, std::optional<Position> through,
                          Folded& folded, const FoldOptions& options);

/// Folds a log from its first entry on, up to `through` (or its end), perhaps with another ranker.
/// FAILS: kNotFound (no entries), kCorrupt (it does not begin as a log does), and as above
Result<Folded> fold_log(const LogView& store, LogId log, const RankerChoice* choice,
                        std::optional<Position> through, const FoldOptions& options);

/// RETURNS: whether the log can be folded from its beginning: retention has dropped nothing.
bool keeps_whole_log(const LogView& store, LogId log);
/// What is wrong where it cannot: kConflict.
Error beginning_dropped();

/// The newest good snapshot and the tail of the log; a damaged one is named through `warn` and the
/// one before it taken; without any, the whole log. FAILS: as fold_log, but for kCorrupt where
/// neither the log's beginning nor a good snapshot is there
Result<Folded> recover(const Store& store, const LogInfo& log, const FoldOptions& options);

}  // namespace hindsight
