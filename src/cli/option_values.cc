#include "src/cli/option_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "src/core/check.h"

namespace hindsight::cli {
namespace {

std::optional<double> decimal_number(const std::string& word) {
  double value = 0.0;
  const char* const end = word.data() + word.size();
  const auto [stop, problem] = std::from_chars(word.data(), end, value);
  if (problem != std::errc() || stop != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

/// RETURNS: what is wrong with the first word between commas that has something wrong.
std::string check_each(const std::string& list, const WordCheck& check) {
  for (const std::string& word : split_names(list)) {
    if (std::string problem = check(word); !problem.empty()) {
      return problem;
    }
  }
  return {};
}

}  // namespace

WordCheck decimal_integer(std::uint64_t largest) {
  return [largest](const std::string& word) -> std::string {
    std::uint64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, problem] = std::from_chars(word.data(), end, value);
    const bool padded = word.size() > 1 && word.front() == '0';
    if (problem != std::errc() || stop != end || padded || value > largest) {
      return "'" + word + "' is not a whole number from 0 to " + std::to_string(largest);
    }
    return {};
  };
}

std::string check_decimal_number(const std::string& word) {
  return decimal_number(word) ? std::string() : "'" + word + "' is not a number";
}

std::vector<std::string> split_names(const std::string& word) {
  std::vector<std::string> names(1);
  for (const char c : word) {
    if (c == ',') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  return names;
}

std::string check_names(const std::string& word) {
  const std::vector<std::string> names = split_names(word);
  const bool empty =
      std::any_of(names.begin(), names.end(), [](const auto& name) { return name.empty(); });
  return empty ? "'" + word + "' has an empty name" : std::string();
}

std::string check_numbers(const std::string& word) {
  return check_each(word, check_decimal_number);
}

std::vector<double> split_numbers(const std::string& word) {
  std::vector<double> numbers;
  for (const std::string& name : split_names(word)) {
    const std::optional<double> number = decimal_number(name);
    HINDSIGHT_CHECK(number.has_value());
    numbers.push_back(*number);
  }
  return numbers;
}

WordCheck integers(std::uint64_t largest) {
  return [largest](const std::string& word) { return check_each(word, decimal_integer(largest)); };
}

std::vector<std::uint64_t> split_integers(const std::string& word) {
  std::vector<std::uint64_t> values;
  for (const std::string& name : split_names(word)) {
    std::uint64_t value = 0;
    HINDSIGHT_CHECK(std::from_chars(name.data(), name.data() + name.size(), value).ec ==
                    std::errc());
    values.push_back(value);
  }
  return values;
}

}  // namespace hindsight::cli
