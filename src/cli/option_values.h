// What the words after an option must look like. The parser's own conversions take "-1" for a large
// number, "010" for eight and "" for nothing; these checks come before them.
//
// Thread-safety: pure functions.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hindsight::cli {

/// Says what is wrong with a word; empty: nothing. CLI::Option::check takes it.
using WordCheck = std::function<std::string(const std::string&)>;

/// Digits without a leading zero; at most `largest`.
WordCheck decimal_integer(std::uint64_t largest);

/// A finite decimal number such as -0.5 or 1e-3.
std::string check_decimal_number(const std::string& word);

/// Names between commas, none of them empty.
std::string check_names(const std::string& word);
std::vector<std::string> split_names(const std::string& word);

/// Numbers between commas. split_numbers REQUIRES: check_numbers has nothing to say
std::string check_numbers(const std::string& word);
std::vector<double> split_numbers(const std::string& word);

/// Integers as of decimal_integer, between commas. split_integers REQUIRES: the check has nothing
/// to say
WordCheck integers(std::uint64_t largest);
std::vector<std::uint64_t> split_integers(const std::string& word);

}  // namespace hindsight::cli
