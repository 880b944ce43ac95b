#include "src/sim/data_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "src/core/check.h"
#include "src/sim/citation_library.h"
#include "src/sim/synthetic_library.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultRoots[] = {"../shared/data", "data"};
constexpr const char* kSynthetic = "synthetic";
constexpr const char* kSyntheticChange = "synthetic-change";  // half-way users begin to want news

bool is_library(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "papers.tsv", ignored) ||
         fs::exists(folder / "papers.tsv.zst", ignored);
}

/// "cora" comes first, since it is the paper's.
bool earlier(const fs::path& a, const fs::path& b) {
  const auto key = [](const fs::path& folder) {
    return std::pair(folder.filename() != "cora", folder.filename().string());
  };
  return key(a) < key(b);
}

/// The libraries in a folder, or the folder itself if it is one.
std::vector<fs::path> find_libraries(const fs::path& root) {
  if (is_library(root)) {
    return {root};
  }
  std::vector<fs::path> found;
  std::error_code problem;
  for (fs::directory_iterator at(root, problem), end; !problem && at != end;
       at.increment(problem)) {
    if (is_library(at->path())) {
      found.push_back(at->path());
    }
  }
  std::sort(found.begin(), found.end(), earlier);
  return found;
}

Result<std::vector<fs::path>> find_folders(const DataChoice& choice) {
  if (!choice.data) {
    for (const char* root : kDefaultRoots) {
      if (auto found = find_libraries(root); !found.empty()) {
        return found;
      }
    }
    return std::vector<fs::path>{};
  }
  std::error_code ignored;
  if (!fs::is_directory(*choice.data, ignored)) {
    const bool exists = fs::exists(*choice.data, ignored);
    return Error{ErrorCode::kInvalidArgument,
                 exists ? "is not a folder" : "there is no such folder", choice.data->string()};
  }
  auto found = find_libraries(*choice.data);
  if (found.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "holds no papers.tsv or papers.tsv.zst, and no folder in it does",
                 choice.data->string()};
  }
  return found;
}

/// The wish in plain names: no "all", nothing left open.
std::vector<std::string> wanted_names(const DataChoice& choice,
                                      const std::vector<fs::path>& found) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const std::string& wish : choice.names) {
    if (wish != "all") {
      add(wish);
      continue;
    }
    for (const fs::path& folder : found) {
      add(library_name(folder));
    }
    add(kSynthetic);
  }
  if (!names.empty()) {
    return names;
  }
  for (const fs::path& folder : found) {
    add(library_name(folder));
  }
  if (names.empty()) {
    return {kSynthetic};
  }
  return names.front() == "cora" ? std::vector<std::string>{"cora"} : names;
}

Result<GrowingLibrary> load_one(const std::string& name, const DataChoice& choice,
                                const std::vector<fs::path>& found) {
  if (name == kSynthetic) {
    return make_synthetic_library({}, choice.seed);
  }
  if (name == kSyntheticChange) {
    return make_synthetic_library({.change_at = 0.5}, choice.seed);
  }
  std::vector<std::string> known;
  for (const fs::path& folder : found) {
    known.push_back(library_name(folder));
    if (known.back() == name) {
      CitationLibraryOptions options;
      options.topic_column = choice.topic_column.value_or(name == "aan" ? "venue" : "topic");
      return read_citation_library(folder, options);
    }
  }
  known.emplace_back(kSynthetic);
  known.emplace_back(kSyntheticChange);
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("there is no data set '{}'; there are: {}", name, fmt::join(known, ", ")),
      "dataset"};
}

}  // namespace

Result<ChosenLibraries> load_libraries(const DataChoice& choice) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<fs::path> found, find_folders(choice));
  ChosenLibraries chosen;
  if (found.empty() && choice.names.empty()) {
    chosen.notes.push_back(fmt::format(
        "no data in {}: this is the synthetic library (--data DIR reads one from papers.tsv and "
        "citations.tsv)",
        fmt::join(kDefaultRoots, " or ")));
  }
  for (const std::string& name : wanted_names(choice, found)) {
    HINDSIGHT_ASSIGN_OR_RETURN(GrowingLibrary library, load_one(name, choice, found));
    chosen.libraries.push_back(std::move(library));
  }
  return chosen;
}

}  // namespace hindsight
