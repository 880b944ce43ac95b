#include "src/server/toml_table.h"

// The parser is compiled here, not taken from the shared library, which was built to throw; and so
// sanitizers and fuzzers see into it.
#undef TOML_SHARED_LIB
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

const toml::table& as_table(const void* table) { return *static_cast<const toml::table*>(table); }

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string range_text(std::int64_t least, std::int64_t most) {
  return "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
}

/// RETURNS: the first of the nearest names within `reach` changes.
std::string_view nearest_within(std::string_view word, const std::vector<std::string_view>& names,
                                std::size_t reach) {
  constexpr std::size_t kLongestWord = 64;
  std::string_view best;
  std::size_t least = reach + 1;
  for (const std::string_view name : names) {
    if (word.size() > kLongestWord) {
      break;
    }
    if (const std::size_t distance = edit_distance(word, name); distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace

std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& names) {
  // Beyond a third of its letters a word is another word, not a slip.
  return nearest_within(word, names, word.size() / 3 + 1);
}

std::string_view slip_of(std::string_view word, const std::vector<std::string_view>& names) {
  return nearest_within(word, names, 2);
}

std::string TomlTable::field(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

Error TomlTable::wrong(std::string_view name, const std::string& expected) const {
  return {ErrorCode::kInvalidArgument, "must be " + expected, field(name)};
}

Result<void> TomlTable::check_names(const std::vector<std::string_view>& names) const {
  for (const auto& [key, value] : as_table(table_)) {
    if (std::find(names.begin(), names.end(), key.str()) != names.end()) {
      continue;
    }
    const std::string_view near = nearest_name(key.str(), names);
    std::string message = "there is no such setting";
    if (!near.empty()) {
      message += "; did you mean '" + std::string(near) + "'?";
    }
    return Error{ErrorCode::kInvalidArgument, message, field(key.str())};
  }
  return {};
}

Result<std::optional<std::string>> TomlTable::string(std::string_view name) const {
  const toml::node* node = as_table(table_).get(name);
  if (node == nullptr) {
    return std::optional<std::string>();
  }
  const toml::value<std::string>* value = node->as_string();
  return value == nullptr ? Result<std::optional<std::string>>(wrong(name, "a string"))
                          : std::optional<std::string>(value->get());
}

Result<std::string> TomlTable::required_string(std::string_view name) const {
  HINDSIGHT_ASSIGN_OR_RETURN(std::optional<std::string> value, string(name));
  if (!value) {
    return Error{ErrorCode::kParse, "is missing", field(name)};
  }
  return *std::move(value);
}

Result<std::optional<std::int64_t>> TomlTable::integer(std::string_view name, std::int64_t least,
                                                       std::int64_t most) const {
  const toml::node* node = as_table(table_).get(name);
  if (node == nullptr) {
    return std::optional<std::int64_t>();
  }
  const toml::value<std::int64_t>* value = node->as_integer();
  if (value == nullptr || value->get() < least || value->get() > most) {
    return wrong(name, range_text(least, most));
  }
  return std::optional<std::int64_t>(value->get());
}

Result<std::optional<double>> TomlTable::number(std::string_view name, double least,
                                                double most) const {
  const toml::node* node = as_table(table_).get(name);
  if (node == nullptr) {
    return std::optional<double>();
  }
  std::optional<double> value;
  if (const auto* real = node->as_floating_point()) {
    value = real->get();
  } else if (const auto* whole = node->as_integer()) {
    value = static_cast<double>(whole->get());
  }
  if (!value || !std::isfinite(*value) || *value < least || *value > most) {
    return wrong(name, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

Result<std::optional<bool>> TomlTable::boolean(std::string_view name) const {
  const toml::node* node = as_table(table_).get(name);
  if (node == nullptr) {
    return std::optional<bool>();
  }
  const toml::value<bool>* value = node->as_boolean();
  return value == nullptr ? Result<std::optional<bool>>(wrong(name, "true or false"))
                          : std::optional<bool>(value->get());
}

Result<std::optional<std::vector<std::string>>> TomlTable::strings(std::string_view name,
                                                                   std::size_t most) const {
  const toml::node* node = as_table(table_).get(name);
  if (node == nullptr) {
    return std::optional<std::vector<std::string>>();
  }
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    return wrong(name, "a list of strings");
  }
  if (array->size() > most) {
    return Error{ErrorCode::kTooLarge, "has more than " + std::to_string(most) + " entries",
                 field(name)};
  }
  std::vector<std::string> words;
  for (const toml::node& entry : *array) {
    const toml::value<std::string>* word = entry.as_string();
    if (word == nullptr) {
      return wrong(name, "a list of strings");
    }
    words.push_back(word->get());
  }
  return std::optional(std::move(words));
}

Result<std::optional<TomlTable>> TomlTable::table(std::string_view name) const {
  const toml::node* node = as_table(table_).get(name);
  if (node == nullptr) {
    return std::optional<TomlTable>();
  }
  const toml::table* found = node->as_table();
  if (found == nullptr) {
    return wrong(name, "a table");
  }
  return std::optional<TomlTable>(TomlTable(found, field(name)));
}

Result<std::vector<TomlTable>> TomlTable::tables(std::string_view name, std::size_t most) const {
  std::vector<TomlTable> found;
  const toml::node* node = as_table(table_).get(name);
  if (node == nullptr) {
    return found;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    return wrong(name, "tables, each under [[" + std::string(name) + "]]");
  }
  if (array->size() > most) {
    return Error{ErrorCode::kTooLarge, "has more than " + std::to_string(most) + " entries",
                 field(name)};
  }
  for (const toml::node& entry : *array) {
    if (entry.as_table() == nullptr) {
      return wrong(name, "tables, each under [[" + std::string(name) + "]]");
    }
    found.push_back(
        TomlTable(entry.as_table(), field(name) + "[" + std::to_string(found.size()) + "]"));
  }
  return found;
}

Result<TomlDocument> TomlDocument::parse(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return Error{ErrorCode::kTooLarge, "the file is larger than 16 MiB", ""};
  }
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Error{ErrorCode::kParse,
                 "line " + std::to_string(error.source().begin.line) + ", column " +
                     std::to_string(error.source().begin.column) + ": " +
                     std::string(error.description()),
                 ""};
  }
  return TomlDocument(std::make_shared<const toml::table>(std::move(parsed).table()));
}

}  // namespace hindsight
