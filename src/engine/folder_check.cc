#include "src/engine/folder_check.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hindsight/registry.h"
#include "src/core/check.h"
#include "src/store/snapshot_files.h"

namespace hindsight {
namespace {

constexpr std::size_t kBatch = 4096;
constexpr std::size_t kMaxNamed = 10;  // of the damaged entries of a log

class LogCheck {
 public:
  LogCheck(const LogView& view, const LogInfo& log, const FoldOptions& options,
           std::vector<Finding>& findings)
      : view_(view), log_(log), options_(options), findings_(findings) {}

  CollectionCheck run() {
    check_.name = log_.name;
    const Result<void> folded = fold_all();
    if (!folded.ok()) {
      const std::size_t before = findings_.size();
      name_damaged_entries();
      if (findings_.size() == before) {
        found_in_log(folded.error().message);
      }
    }
    return check_;
  }

 private:
  void found_in_log(const std::string& problem) {
    findings_.push_back({"hindsight.db", "collection " + log_.name + ": " + problem +
                                             "; restore the folder from a copy"});
  }

  void found_in_snapshot(Position position, const std::string& problem) {
    findings_.push_back({snapshot_name(log_.id, position),
                         "collection " + log_.name + ": " + problem +
                             "; the server does without it where it can, and takes the one before "
                             "or the whole log. Delete it, or restore the folder from a copy"});
  }

  Result<void> fold_all() {
    HINDSIGHT_ASSIGN_OR_RETURN(const Position head, view_.head(log_.id));
    HINDSIGHT_ASSIGN_OR_RETURN(const Position first, view_.first(log_.id));
    check_.events = first == 0 ? 0 : head - first + 1;
    if (head == 0) {
      return {};  // its making was cut short; the next start removes it
    }
    HINDSIGHT_ASSIGN_OR_RETURN(std::vector<Position> positions, view_.snapshots(log_.id));
    std::reverse(positions.begin(), positions.end());
    std::optional<Folded> folded;
    const bool whole = first == 1;
    for (const Position position : positions) {
      if (position > head) {
        continue;  // the store's part has named it
      }
      HINDSIGHT_RETURN_IF_ERROR(check_snapshot(position, whole, first, folded));
    }
    if (!folded && !whole) {
      return Error{ErrorCode::kCorrupt,
                   "the log begins at entry " + std::to_string(first) +
                       " and there is no good snapshot of what came before",
                   ""};
    }
    HINDSIGHT_RETURN_IF_ERROR(fold_to(std::nullopt, folded));
    check_.model_hash = model_hash(folded->model->ranker());
    return {};
  }

  /// Folds on to a position; from the beginning where nothing is folded yet.
  Result<void> fold_to(std::optional<Position> through, std::optional<Folded>& folded) {
    if (folded) {
      return fold_forward(view_, log_.id, through, *folded, options_);
    }
    HINDSIGHT_ASSIGN_OR_RETURN(folded, fold_log(view_, log_.id, nullptr, through, options_));
    return {};
  }

  Result<void> check_snapshot(Position position, bool whole, Position first,
                              std::optional<Folded>& folded) {
    Result<Folded> loaded = load(position);
    if (!loaded.ok()) {
      found_in_snapshot(position, loaded.error().message);
      return {};
    }
    if (!whole && !folded) {
      if (position + 1 >= first) {
        folded = *std::move(loaded);
        check_.snapshots += 1;
      }
      return {};
    }
    HINDSIGHT_RETURN_IF_ERROR(fold_to(position, folded));
    // Where the chosen ranker could not learn the history, a snapshot has the one before it, and
    // what became of a click is up to the ranker.
    const bool built = same_ranker(loaded->model->config(), loaded->fold->logged_config());
    const ClickCounts& counts = loaded->fold->counts();
    const bool same =
        built ? model_hash(loaded->model->ranker()) == model_hash(folded->model->ranker()) &&
                    counts == folded->fold->counts()
              : counts.received == folded->fold->counts().received;
    if (same) {
      check_.snapshots += 1;
    } else {
      found_in_snapshot(position, "is not what the log gives at its position");
    }
    return {};
  }

  Result<Folded> load(Position position) const {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                               view_.get_snapshot(log_.id, position));
    HINDSIGHT_ASSIGN_OR_RETURN(Folded folded, load_snapshot(view_, log_.id, bytes, options_));
    if (folded.fold->position() != position) {
      return Error{ErrorCode::kCorrupt, "is of another position than its name says", ""};
    }
    return folded;
  }

  /// After a fold that stopped: every entry that cannot be read, not only the first.
  void name_damaged_entries() {
    const Result<Position> head = view_.head(log_.id);
    const Result<Position> first = view_.first(log_.id);
    std::size_t damaged = 0;
    for (Position after = first.ok() && *first > 0 ? *first - 1 : 0; head.ok() && after < *head;) {
      const Result<std::vector<LogEntry>> entries = view_.read(log_.id, after, kBatch);
      if (entries.ok() && !entries->empty()) {
        after = entries->back().position;
        continue;
      }
      // Somewhere in this batch: one by one.
      const Position end = std::min<Position>(*head, after + kBatch);
      for (; after < end; ++after) {
        const Result<Payload> entry = view_.read_at(log_.id, after + 1);
        if (!entry.ok() && ++damaged <= kMaxNamed) {
          found_in_log(entry.error().message);
        }
      }
    }
    if (damaged > kMaxNamed) {
      found_in_log("and " + std::to_string(damaged - kMaxNamed) + " entries more");
    }
  }

  const LogView& view_;
  const LogInfo& log_;
  const FoldOptions& options_;
  std::vector<Finding>& findings_;
  CollectionCheck check_;
};

}  // namespace

CollectionCheck check_collection(const LogView& view, const LogInfo& log,
                                 const FoldOptions& options, std::vector<Finding>& findings) {
  return LogCheck(view, log, options, findings).run();
}

}  // namespace hindsight
