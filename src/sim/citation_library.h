// Reads a GrowingLibrary from a folder with papers.tsv and citations.tsv (plain or .zst).
//
// papers.tsv has the columns `id`, `year` and a topic; citations.tsv has `citing` and `cited`; more
// columns do no harm. Papers arrive in order of year, those of one year in the order of the file.
// Rows that the experiment cannot use are left out and counted (LibraryCounts): papers without year
// or topic, further rows of an id, citations of oneself, citations whose ends are not both among
// the papers kept, further rows of a pair. A year that is not a whole number, or an empty id, is a
// broken line.
//
// Thread-safety: functions of their arguments.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hindsight/result.h"
#include "src/sim/growing_library.h"
#include "src/sim/table_reader.h"

namespace hindsight {

struct CitationLibraryOptions {
  std::string topic_column = "topic";
  TableLimits limits;
};

/// FAILS: kInvalidArgument (a file is missing, or there in both forms; no paper is usable), kParse,
/// kCorrupt, kTooLarge, kIo
Result<GrowingLibrary> read_citation_library(const std::filesystem::path& folder,
                                             const CitationLibraryOptions& options = {});

/// The same from two tables in memory. FAILS: as read_citation_library
Result<GrowingLibrary> parse_citation_library(std::string_view papers, std::string_view citations,
                                              const CitationLibraryOptions& options = {},
                                              TextEncoding encoding = TextEncoding::kPlain);

/// The last part of the path: "data/cora/" and "data/cora" are both named "cora".
std::string library_name(const std::filesystem::path& folder);

}  // namespace hindsight
