#include "src/sim/letor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>

#include "hindsight/types.h"
#include "src/core/check.h"
#include "src/sim/text_file.h"

namespace hindsight {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 28;  // 2 GiB of features
constexpr double kMaxGrade = 1000.0;                           // as ndcg_at

/// Takes the next word off the front of `rest`; empty at the end.
std::string_view next_word(std::string_view& rest) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = std::min(rest.find_first_not_of(kBlanks), rest.size());
  const std::size_t end = std::min(rest.find_first_of(kBlanks, begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

template <class Number>
std::optional<Number> parse_number(std::string_view word) {
  if (word.starts_with('+')) {
    word.remove_prefix(1);
  }
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) {
    return std::nullopt;
  }
  return value;
}

/// What one line is about.
struct Line {
  double grade = 0.0;
  std::string_view query;  // empty where the line has no qid
};

class LetorParser {
 public:
  /// `sizes`: the lines of each query, where the lines themselves do not say.
  LetorParser(std::string name, std::optional<std::vector<std::uint64_t>> sizes)
      : name_(std::move(name)), sizes_(std::move(sizes)) {}

  Result<JudgedSet> parse(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_number_;
      HINDSIGHT_RETURN_IF_ERROR(take_line(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (sizes_ && (at_size_ + 1 < sizes_->size() || left_ > 0)) {
      return broken("the text ends before the last query that the sizes promise");
    }
    if (rows_.empty()) {
      return Error{ErrorCode::kParse, "there are no documents", name_};
    }
    return build();
  }

 private:
  struct Row {
    std::size_t begin = 0;  // of its features
    double grade = 0.0;
    std::size_t query = 0;
  };

  Error broken(std::string reason) const {
    return {ErrorCode::kParse, std::move(reason), fmt::format("{}:{}", name_, line_number_)};
  }

  Result<void> take_line(std::string_view text) {
    if (text.size() > kMaxLineBytes) {
      return broken(fmt::format("longer than {} bytes", kMaxLineBytes));
    }
    text = text.substr(0, text.find('#'));
    std::string_view rest = text;
    const std::string_view first = next_word(rest);
    if (first.empty()) {
      return {};
    }
    HINDSIGHT_ASSIGN_OR_RETURN(const std::size_t begin, take_numbers(first, rest));
    HINDSIGHT_RETURN_IF_ERROR(find_query());
    rows_.push_back({.begin = begin, .grade = line_.grade, .query = names_.size() - 1});
    return {};
  }

  /// Grade, query and features. RETURNS: where the features begin in features_.
  Result<std::size_t> take_numbers(std::string_view grade, std::string_view rest) {
    const std::optional<double> value = parse_number<double>(grade);
    if (!value || !(*value >= 0.0 && *value <= kMaxGrade)) {
      return broken(fmt::format("the grade '{}' is no number from 0 to {}", grade, kMaxGrade));
    }
    line_ = {.grade = *value, .query = {}};
    const std::size_t begin = features_.size();
    std::uint32_t last = 0;
    for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
      if (word.starts_with("qid:") && line_.query.empty() && last == 0) {
        line_.query = word.substr(4);
        if (line_.query.empty()) {
          return broken("a qid without a name");
        }
        continue;
      }
      HINDSIGHT_ASSIGN_OR_RETURN(const auto feature, parse_feature(word));
      if (feature.first <= last) {
        return broken(fmt::format("feature {} after feature {}; they must ascend from 1",
                                  feature.first, last));
      }
      last = feature.first;
      features_.push_back(feature);
    }
    dim_ = std::max<std::size_t>(dim_, last);
    return begin;
  }

  Result<std::pair<std::uint32_t, double>> parse_feature(std::string_view word) const {
    const std::size_t colon = word.find(':');
    const auto number = parse_number<std::uint32_t>(word.substr(0, colon));
    if (colon == std::string_view::npos || !number || word.starts_with('+')) {
      return broken(fmt::format("'{}' is no feature such as 3:0.25", word));
    }
    if (*number == 0 || *number > kMaxDenseColumns) {
      return broken(fmt::format("feature {} is not from 1 to {}", *number, kMaxDenseColumns));
    }
    const auto value = parse_number<double>(word.substr(colon + 1));
    if (!value || !std::isfinite(*value)) {
      return broken(
          fmt::format("feature {} is no finite number: '{}'", *number, word.substr(colon + 1)));
    }
    return std::pair(*number, *value);
  }

  Result<void> find_query() {
    if (sizes_) {
      return count_line();
    }
    if (line_.query.empty()) {
      return broken("no qid, and no file of query sizes beside it");
    }
    if (!names_.empty() && names_.back() == line_.query) {
      return {};
    }
    if (!seen_.emplace(line_.query).second) {
      return broken(fmt::format("query '{}' comes back after another", line_.query));
    }
    names_.emplace_back(line_.query);
    return {};
  }

  Result<void> count_line() {
    if (!line_.query.empty()) {
      return broken("a qid, although a file of query sizes stands beside it");
    }
    if (left_ == 0) {
      at_size_ = names_.size();
      if (at_size_ == sizes_->size()) {
        return broken("more lines than the query sizes add up to");
      }
      left_ = (*sizes_)[at_size_];
      names_.push_back(std::to_string(at_size_ + 1));
    }
    --left_;
    return {};
  }

  Result<JudgedSet> build() {
    if (rows_.size() * std::max<std::size_t>(dim_, 1) > kMaxNumbers) {
      return Error{ErrorCode::kTooLarge,
                   fmt::format("{} documents of {} features are too many", rows_.size(), dim_),
                   name_};
    }
    JudgedSet set;
    set.dim = dim_;
    set.queries.resize(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) {
      set.queries[i].name = std::move(names_[i]);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      JudgedQuery& query = set.queries[rows_[i].query];
      const std::size_t end = i + 1 < rows_.size() ? rows_[i + 1].begin : features_.size();
      const std::size_t base = query.features.size();
      query.grades.push_back(rows_[i].grade);
      query.features.resize(base + dim_, 0.0);
      for (std::size_t j = rows_[i].begin; j < end; ++j) {
        query.features[base + features_[j].first - 1] = features_[j].second;
      }
    }
    return set;
  }

  std::string name_;
  std::optional<std::vector<std::uint64_t>> sizes_;
  std::size_t at_size_ = 0;
  std::uint64_t left_ = 0;  // lines that the current query still has
  std::uint64_t line_number_ = 0;
  Line line_;
  std::size_t dim_ = 0;
  std::vector<std::pair<std::uint32_t, double>> features_;
  std::vector<Row> rows_;
  std::vector<std::string> names_;
  std::unordered_set<std::string> seen_;
};

Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text, const std::string& name) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    const std::string_view word = next_word(rest);
    const auto size = parse_number<std::uint64_t>(word);
    if (!word.empty() && (!size || *size == 0 || !next_word(rest).empty())) {
      return Error{ErrorCode::kParse, "must be a number of lines, at least 1",
                   fmt::format("{}:{}", name, line)};
    }
    if (size) {
      sizes.push_back(*size);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return sizes;
}

/// NAME.query or NAME.query.zst, whichever exists.
std::optional<std::filesystem::path> sizes_beside(std::filesystem::path path) {
  if (path.extension() == ".zst") {
    path.replace_extension();
  }
  path += ".query";
  std::error_code ignored;
  for (const char* ending : {"", ".zst"}) {
    std::filesystem::path candidate = path;
    candidate += ending;
    if (std::filesystem::exists(candidate, ignored)) {
      return candidate;
    }
  }
  return std::nullopt;
}

}  // namespace

bool JudgedQuery::has_relevant() const {
  return std::any_of(grades.begin(), grades.end(), [](double grade) { return grade > 0.0; });
}

std::size_t JudgedSet::documents() const {
  std::size_t count = 0;
  for (const JudgedQuery& query : queries) {
    count += query.documents();
  }
  return count;
}

Result<JudgedSet> parse_letor(std::string_view text, const std::string& name) {
  return LetorParser(name, std::nullopt).parse(text);
}

Result<JudgedSet> parse_letor(std::string_view text, std::string_view query_sizes,
                              const std::string& name) {
  HINDSIGHT_ASSIGN_OR_RETURN(std::vector<std::uint64_t> sizes,
                             parse_sizes(query_sizes, name + ".query"));
  return LetorParser(name, std::move(sizes)).parse(text);
}

Result<JudgedSet> read_letor(const std::filesystem::path& path) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::string text, read_text_file(path, kMaxTextBytes));
  const auto beside = sizes_beside(path);
  if (!beside) {
    return parse_letor(text, path.string());
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const std::string sizes_text, read_text_file(*beside, kMaxTextBytes));
  HINDSIGHT_ASSIGN_OR_RETURN(std::vector<std::uint64_t> sizes,
                             parse_sizes(sizes_text, beside->string()));
  return LetorParser(path.string(), std::move(sizes)).parse(text);
}

JudgedSet join_sets(std::span<const JudgedSet* const> sets) {
  JudgedSet joined;
  for (const JudgedSet* set : sets) {
    joined.dim = std::max(joined.dim, set->dim);
  }
  for (const JudgedSet* set : sets) {
    for (std::size_t q = 0; q < set->queries.size(); ++q) {
      JudgedQuery query = set->queries[q];
      if (set->dim != joined.dim) {
        query.features.assign(query.documents() * joined.dim, 0.0);
        for (std::size_t i = 0; i < query.documents(); ++i) {
          const auto row = set->row(q, i);
          std::copy(row.begin(), row.end(),
                    query.features.begin() + static_cast<std::ptrdiff_t>(i * joined.dim));
        }
      }
      joined.queries.push_back(std::move(query));
    }
  }
  return joined;
}

void normalise_queries(JudgedSet& set) {
  for (JudgedQuery& query : set.queries) {
    for (std::size_t j = 0; j < set.dim; ++j) {
      double least = query.features[j];
      double greatest = least;
      for (std::size_t i = j; i < query.features.size(); i += set.dim) {
        least = std::min(least, query.features[i]);
        greatest = std::max(greatest, query.features[i]);
      }
      // Halves first: the range itself may overflow.
      const double half_range = 0.5 * greatest - 0.5 * least;
      for (std::size_t i = j; i < query.features.size(); i += set.dim) {
        double& x = query.features[i];
        x = half_range > 0.0 ? (0.5 * x - 0.5 * least) / half_range : 0.0;
      }
    }
  }
}

}  // namespace hindsight
