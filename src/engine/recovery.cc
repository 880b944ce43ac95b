#include "src/engine/recovery.h"

#include <future>
#include <string>

#include "src/core/check.h"
#include "src/core/envelope.h"
#include "src/core/planted.h"

namespace hindsight {
namespace {

constexpr std::string_view kMagic = "HINDSIGHT STATE\n";
constexpr std::size_t kBatch = 4096;
// An entry may take a ranker milliseconds; a model may have to walk over all that it holds to say
// what it takes.
constexpr std::size_t kStride = 64;

std::unique_ptr<Fold> new_fold(const LogView& store, LogId log, const FoldOptions& options) {
  auto fold = std::make_unique<Fold>(decision_loader(store, log), options.cache_bytes);
  fold->observe(options.observer);
  return fold;
}

Error with_log(const Error& error, Position position) {
  Error out = error;
  out.message += " (at position " + std::to_string(position) + " of the log)";
  return out;
}

// Asked after a read, so that what is dropped while it goes on is noticed.
// FAILS: kConflict (entries after `after` are no longer kept)
Result<void> check_kept(const LogView& store, LogId log, Position after) {
  HINDSIGHT_ASSIGN_OR_RETURN(const Position first, store.first(log));
  return first > after + 1 ? Result<void>(beginning_dropped()) : Result<void>();
}

Result<void> check_memory(const Model& model, const std::optional<std::uint64_t>& budget) {
  const std::uint64_t bytes = budget ? model.memory_bytes() : 0;
  if (!budget || bytes <= *budget) {
    return {};
  }
  return Error{ErrorCode::kOverBudget,
               "the ranker's model takes about " + std::to_string(bytes) +
                   " bytes, and the collection's memory_budget is " + std::to_string(*budget) +
                   "; raise memory_budget, or give the ranker parameters that take less",
               "memory_budget"};
}

}  // namespace

std::vector<std::byte> snapshot_bytes(const Fold& fold, const Model& model) {
  ByteWriter out = begin_record(kMagic);
  fold.save(out);
  model.save(out);
  return seal_record(std::move(out));
}

Result<Folded> load_snapshot(const LogView& store, LogId log, std::span<const std::byte> bytes,
                             const FoldOptions& options) {
  std::uint32_t format = 0;
  HINDSIGHT_ASSIGN_OR_RETURN(const auto body, open_record(kMagic, bytes, &format));
  ByteReader in(body);
  Folded folded;
  folded.fold = new_fold(store, log, options);
  HINDSIGHT_RETURN_IF_ERROR(folded.fold->load(in, format));
  HINDSIGHT_ASSIGN_OR_RETURN(folded.model, Model::load(in));
  if (in.left() != 0 || folded.model->version() != folded.fold->position()) {
    return Error{ErrorCode::kCorrupt, "the snapshot's parts do not fit together", ""};
  }
  return folded;
}

Result<void> fold_forward(const LogView& store, LogId log, std::optional<Position> through,
                          Folded& folded, const FoldOptions& options) {
  // The next batch is read while one is folded.
  const auto read_after = [&store, log](Position after) {
    // Deferred where no thread can be had.
    return std::async(std::launch::async | std::launch::deferred,
                      [&store, log, after] { return store.read(log, after, kBatch); });
  };
  std::future<Result<std::vector<LogEntry>>> next = read_after(folded.fold->position());
  HINDSIGHT_ASSIGN_OR_RETURN(const Position began, store.first(log));
  for (;;) {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogEntry> entries, next.get());
    HINDSIGHT_RETURN_IF_ERROR(check_kept(store, log, folded.fold->position()));
    bool ended = entries.empty();
    if (!ended) {
      next = read_after(entries.back().position);
    }
    std::size_t done = 0;
    for (const LogEntry& entry : entries) {
      if (through && entry.position > *through) {
        ended = true;
        break;
      }
      Result<Applied> applied = folded.fold->apply(entry, *folded.model, nullptr);
      if (!applied.ok()) {
        const Result<Position> begins = store.first(log);
        return begins.ok() && *begins > began ? beginning_dropped()
                                              : with_log(applied.error(), entry.position);
      }
      if (applied->rebuild) {
        const CollectionConfig& wanted = folded.fold->logged_config();
        const RankerChoice choice{.ranker = wanted.ranker, .params = wanted.params};
        HINDSIGHT_ASSIGN_OR_RETURN(folded, fold_log(store, log, &choice, entry.position, options));
        folded.fold->follow_log();
      }
      if (++done % kStride == 0) {
        HINDSIGHT_RETURN_IF_ERROR(check_memory(*folded.model, options.memory_budget));
        if (options.progress) {
          options.progress(folded.fold->position());
        }
      }
    }
    HINDSIGHT_RETURN_IF_ERROR(check_memory(*folded.model, options.memory_budget));
    folded.model->set_version(folded.fold->position());
    if (ended || (through && folded.fold->position() >= *through)) {
      return {};
    }
    if (options.cancelled && options.cancelled()) {
      return Error{ErrorCode::kConflict, "folding was cancelled", ""};
    }
    if (options.progress) {
      options.progress(folded.fold->position());
    }
  }
}

Result<Folded> fold_log(const LogView& store, LogId log, const RankerChoice* choice,
                        std::optional<Position> through, const FoldOptions& options) {
  HINDSIGHT_CHECK(options.observer == nullptr || choice != nullptr);
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogEntry> first, store.read(log, 0, 1));
  if (first.empty()) {
    return Error{ErrorCode::kNotFound, "the log is empty", "log"};
  }
  HINDSIGHT_RETURN_IF_ERROR(check_kept(store, log, 0));
  Folded folded;
  folded.fold = new_fold(store, log, options);
  HINDSIGHT_ASSIGN_OR_RETURN(folded.model, folded.fold->begin(first.front(), choice));
  HINDSIGHT_RETURN_IF_ERROR(fold_forward(store, log, through, folded, options));
  return folded;
}

bool keeps_whole_log(const LogView& store, LogId log) {
  const Result<Position> first = store.first(log);
  return first.ok() && *first == 1;
}

Error beginning_dropped() {
  return {ErrorCode::kConflict,
          "the beginning of the log is no longer kept, and a ranker that learns it anew needs it; "
          "see retain_days",
          "log"};
}

Result<Folded> recover(const Store& store, const LogInfo& log, const FoldOptions& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<Position> positions, store.snapshots(log.id));
  HINDSIGHT_ASSIGN_OR_RETURN(const Position first, store.first(log.id));
  for (const Position position : positions) {
    if (first > position + 1) {
      break;  // what came between was dropped: this and older ones lead nowhere
    }
    Result<std::vector<std::byte>> bytes = store.get_snapshot(log.id, position);
    Result<Folded> folded =
        bytes.ok() ? load_snapshot(store, log.id, *bytes, options) : Result<Folded>(bytes.error());
    if (folded.ok()) {
      if (folded->fold->partial()) {
        // Once, after an upgrade; where the log's beginning is gone, the snapshot is what there is.
        Result<Folded> whole = fold_log(store, log.id, nullptr, std::nullopt, options);
        if (whole.ok()) {
          whole->anew = true;
        }
        if (whole.ok() || whole.error().code == ErrorCode::kNewerVersion) {
          return whole;
        }
      }
      HINDSIGHT_RETURN_IF_ERROR(fold_forward(store, log.id, std::nullopt, *folded, options));
      return folded;
    }
    if (folded.error().code == ErrorCode::kNewerVersion) {
      return folded.error();
    }
    if (options.warn && !planted(Fault::kSilentFallback)) {
      options.warn("collection " + log.name + ": the snapshot of position " +
                   std::to_string(position) + " is damaged (" + to_string(folded.error()) +
                   "); going back to the one before, or to the whole log");
    }
  }
  if (first > 1) {
    return Error{ErrorCode::kCorrupt,
                 "the log begins at entry " + std::to_string(first) +
                     " and there is no good snapshot of what came before",
                 "log"};
  }
  return fold_log(store, log.id, nullptr, std::nullopt, options);
}

}  // namespace hindsight
