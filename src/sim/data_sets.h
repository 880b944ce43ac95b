// Which libraries an experiment runs on: folders of data, or one made from a seed.
//
// Thread-safety: functions of their arguments and of the files.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/result.h"
#include "src/sim/growing_library.h"

namespace hindsight {

struct DataChoice {
  /// A folder with papers.tsv, or a folder of such folders. None: what exists of ../shared/data and
  /// ./data; if neither does, the synthetic library.
  std::optional<std::filesystem::path> data = {};
  /// Names of data sets; "synthetic" and "synthetic-change" are made, "all" is all but the latter.
  /// Empty: cora, or all where there is no cora.
  std::vector<std::string> names = {};
  /// None: "venue" for aan, "topic" for the others.
  std::optional<std::string> topic_column = {};
  std::uint64_t seed = 1;  // of the synthetic library
};

struct ChosenLibraries {
  std::vector<GrowingLibrary> libraries;
  std::vector<std::string> notes;  // what the user should know about the choice
};

/// FAILS: kInvalidArgument (no such folder or data set), or as read_citation_library
Result<ChosenLibraries> load_libraries(const DataChoice& choice);

}  // namespace hindsight
