// What the logs of a data folder mean: does every collection fold, and are its snapshots what a
// replay gives?
//
// Thread-safety: pure functions over a view.

#pragma once

#include <string>
#include <vector>

#include "src/engine/recovery.h"
#include "src/store/finding.h"
#include "src/store/store.h"

namespace hindsight {

struct CollectionCheck {
  std::string name;
  std::uint64_t events = 0;     // that are kept
  std::uint64_t snapshots = 0;  // that are good
  std::string model_hash;       // empty where the log could not be folded
};

/// Reads and folds a whole log, and compares each snapshot with the fold at its position. A log
/// whose beginning was dropped is folded from its oldest snapshot. What is wrong goes to
/// `findings`.
CollectionCheck check_collection(const LogView& view, const LogInfo& log,
                                 const FoldOptions& options, std::vector<Finding>& findings);

}  // namespace hindsight
