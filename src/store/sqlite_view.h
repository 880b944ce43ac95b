// A look at the logs of a data folder, beside a server that may be using it.
//
// Reads what is committed; changes nothing and takes no lock. What the server commits later is not
// seen, except that what it drops is no longer there: a read that does not find it says so, and
// from then on first() has grown, or the log is gone.

#pragma once

#include <filesystem>
#include <memory>

#include "hindsight/result.h"
#include "src/store/store.h"

namespace hindsight {

/// FAILS: kNotFound (no database there), kNewerVersion, kCorrupt, kIo
Result<std::unique_ptr<LogView>> open_sqlite_view(const std::filesystem::path& folder);

}  // namespace hindsight
