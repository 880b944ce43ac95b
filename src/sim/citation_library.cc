#include "src/sim/citation_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/core/check.h"

namespace hindsight {
namespace {

/// A hash map from text that can be asked without making a string.
struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};
using Numbers = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

constexpr std::size_t kMaxPapers = std::numeric_limits<std::uint32_t>::max() / 2;

/// Takes the rows of both tables in the order of the files, then puts the papers in order of
/// arrival.
class LibraryBuilder {
 public:
  Result<void> take_paper(std::string_view id, std::string_view year, std::string_view topic) {
    ++library_.counts.paper_rows;
    if (id.empty()) {
      return Error{ErrorCode::kParse, "the id is empty", ""};
    }
    if (year.empty() || topic.empty()) {
      ++library_.counts.without_year_or_topic;
      return {};
    }
    std::int32_t parsed = 0;
    const auto [end, problem] = std::from_chars(year.data(), year.data() + year.size(), parsed);
    if (problem != std::errc() || end != year.data() + year.size()) {
      return Error{ErrorCode::kParse, fmt::format("the year '{}' is not a whole number", year), ""};
    }
    if (library_.ids.size() >= kMaxPapers) {
      return Error{ErrorCode::kTooLarge, fmt::format("more than {} papers", kMaxPapers), ""};
    }
    const auto row = static_cast<std::uint32_t>(library_.ids.size());
    if (!row_of_.try_emplace(std::string(id), row).second) {
      ++library_.counts.repeated_papers;
      return {};
    }
    library_.ids.emplace_back(id);
    library_.years.push_back(parsed);
    topic_names_.emplace_back(topic);
    return {};
  }

  Result<void> take_citation(std::string_view citing, std::string_view cited) {
    ++library_.counts.citation_rows;
    if (citing == cited) {
      ++library_.counts.self_citations;
      return {};
    }
    const auto from = row_of_.find(citing);
    const auto to = row_of_.find(cited);
    if (from == row_of_.end() || to == row_of_.end()) {
      ++library_.counts.unknown_ends;
      return {};
    }
    if (pairs_.size() >= kMaxPapers) {
      return Error{ErrorCode::kTooLarge, fmt::format("more than {} citations", kMaxPapers), ""};
    }
    pairs_.emplace_back(from->second, to->second);
    return {};
  }

  Result<GrowingLibrary> finish(std::string name) {
    if (library_.ids.empty()) {
      return Error{ErrorCode::kInvalidArgument, "no paper has both a year and a topic", name};
    }
    library_.name = std::move(name);
    order_papers();
    pack_citations();
    return std::move(library_);
  }

 private:
  void order_papers() {
    const std::size_t count = library_.ids.size();
    std::vector<std::uint32_t> row_at(count);  // of the k-th arrival
    std::iota(row_at.begin(), row_at.end(), 0U);
    std::stable_sort(row_at.begin(), row_at.end(), [&](std::uint32_t a, std::uint32_t b) {
      return library_.years[a] < library_.years[b];
    });
    arrival_.resize(count);
    std::vector<std::string> ids(count);
    std::vector<std::int32_t> years(count);
    Numbers topic_numbers;
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t row = row_at[k];
      arrival_[row] = static_cast<ItemIndex>(k);
      ids[k] = std::move(library_.ids[row]);
      years[k] = library_.years[row];
      const auto next = static_cast<std::uint32_t>(library_.topics.size());
      const auto [at, is_new] = topic_numbers.try_emplace(topic_names_[row], next);
      if (is_new) {
        library_.topics.push_back(topic_names_[row]);
      }
      library_.topic_of.push_back(at->second);
    }
    library_.ids = std::move(ids);
    library_.years = std::move(years);
  }

  void pack_citations() {
    // A counting sort by the citing paper keeps the order of the file within each paper.
    std::vector<std::uint32_t> end(library_.size() + 1, 0);
    for (const auto& [from, to] : pairs_) {
      ++end[arrival_[from] + 1];
    }
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<ItemIndex> cited(pairs_.size());
    std::vector<std::uint32_t> at(end.begin(), end.end() - 1);
    for (const auto& [from, to] : pairs_) {
      cited[at[arrival_[from]]++] = arrival_[to];
    }
    std::vector<std::uint32_t> last_citing(library_.size(), 0);  // plus one
    for (std::uint32_t paper = 0; paper < library_.size(); ++paper) {
      for (std::uint32_t i = end[paper]; i < end[paper + 1]; ++i) {
        if (std::exchange(last_citing[cited[i]], paper + 1) == paper + 1) {
          ++library_.counts.repeated_citations;
        } else {
          library_.citations.values.push_back(cited[i]);
        }
      }
      library_.citations.close_list();
    }
  }

  GrowingLibrary library_;
  Numbers row_of_;                                              // row among the papers kept, by id
  std::vector<std::string> topic_names_;                        // of each row
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;  // citing row, cited row
  std::vector<ItemIndex> arrival_;                              // of each row
};

TableSpec papers_spec(const CitationLibraryOptions& options) {
  return {"papers.tsv", {"id", "year", options.topic_column}, options.limits};
}

TableSpec citations_spec(const CitationLibraryOptions& options) {
  return {"citations.tsv", {"citing", "cited"}, options.limits};
}

RowSink papers_sink(LibraryBuilder& builder) {
  return [&builder](std::span<const std::string_view> cells) {
    return builder.take_paper(cells[0], cells[1], cells[2]);
  };
}

RowSink citations_sink(LibraryBuilder& builder) {
  return [&builder](std::span<const std::string_view> cells) {
    return builder.take_citation(cells[0], cells[1]);
  };
}

Result<void> check_options(const CitationLibraryOptions& options) {
  if (options.topic_column.empty() || options.topic_column == "id" ||
      options.topic_column == "year") {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'{}' cannot be the column of topics", options.topic_column),
                 "topic_column"};
  }
  return {};
}

/// The table's file, plain or compressed. Both would leave open which one is meant.
Result<std::filesystem::path> find_table(const std::filesystem::path& folder,
                                         const std::string& name) {
  const std::filesystem::path plain = folder / name;
  const std::filesystem::path compressed = folder / (name + ".zst");
  std::error_code ignored;
  const bool has_plain = std::filesystem::exists(plain, ignored);
  const bool has_compressed = std::filesystem::exists(compressed, ignored);
  if (has_plain && has_compressed) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("holds both {0} and {0}.zst; remove one of them", name),
                 folder.string()};
  }
  if (!has_plain && !has_compressed) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("holds neither {0} nor {0}.zst", name),
                 folder.string()};
  }
  return has_plain ? plain : compressed;
}

}  // namespace

std::string library_name(const std::filesystem::path& folder) {
  const std::filesystem::path full = std::filesystem::absolute(folder).lexically_normal();
  return full.has_filename() ? full.filename().string() : full.parent_path().filename().string();
}

Result<GrowingLibrary> read_citation_library(const std::filesystem::path& folder,
                                             const CitationLibraryOptions& options) {
  HINDSIGHT_RETURN_IF_ERROR(check_options(options));
  HINDSIGHT_ASSIGN_OR_RETURN(const auto papers, find_table(folder, "papers.tsv"));
  HINDSIGHT_ASSIGN_OR_RETURN(const auto citations, find_table(folder, "citations.tsv"));
  LibraryBuilder builder;
  HINDSIGHT_RETURN_IF_ERROR(read_table(papers, papers_spec(options), papers_sink(builder)));
  HINDSIGHT_RETURN_IF_ERROR(
      read_table(citations, citations_spec(options), citations_sink(builder)));
  return builder.finish(library_name(folder));
}

Result<GrowingLibrary> parse_citation_library(std::string_view papers, std::string_view citations,
                                              const CitationLibraryOptions& options,
                                              TextEncoding encoding) {
  HINDSIGHT_RETURN_IF_ERROR(check_options(options));
  LibraryBuilder builder;
  HINDSIGHT_RETURN_IF_ERROR(
      parse_table(papers, encoding, papers_spec(options), papers_sink(builder)));
  HINDSIGHT_RETURN_IF_ERROR(
      parse_table(citations, encoding, citations_spec(options), citations_sink(builder)));
  return builder.finish("library");
}

}  // namespace hindsight
