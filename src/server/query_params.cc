#include "src/server/query_params.h"

#include <charconv>

#include "fmt/format.h"
#include "src/core/check.h"
#include "src/server/http.h"
#include "src/server/json_reader.h"

namespace hindsight {
namespace {

Result<std::string> decoded(std::string_view text) {
  std::optional<std::string> plain = percent_decode(text);
  if (!plain || !simdjson::validate_utf8(plain->data(), plain->size())) {
    return Error{ErrorCode::kInvalidArgument, "the query is not percent-encoded UTF-8", "query"};
  }
  return *std::move(plain);
}

}  // namespace

Result<std::vector<std::optional<std::string>>> parse_query(
    std::string_view query, std::span<const std::string_view> known) {
  std::vector<std::optional<std::string>> values(known.size());
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = pair.find('=');
    HINDSIGHT_ASSIGN_OR_RETURN(const std::string name, decoded(pair.substr(0, equals)));
    std::size_t index = 0;
    while (index < known.size() && known[index] != name) {
      ++index;
    }
    if (index == known.size()) {
      return Error{ErrorCode::kInvalidArgument,
                   known.empty() ? "this call takes no parameters"
                                 : fmt::format("no such parameter; there are: {}",
                                               fmt::join(known.begin(), known.end(), ", ")),
                   shortened(name)};
    }
    if (values[index]) {
      return Error{ErrorCode::kInvalidArgument, "is given twice", name};
    }
    HINDSIGHT_ASSIGN_OR_RETURN(
        values[index],
        decoded(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1)));
  }
  return values;
}

Result<std::size_t> whole_param(std::string_view text, std::string_view name, std::size_t minimum,
                                std::size_t maximum) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < minimum || value > maximum) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("must be a whole number from {} to {}", minimum, maximum),
                 std::string(name)};
  }
  return value;
}

}  // namespace hindsight
