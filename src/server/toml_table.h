// TOML as the server's files use it: tables of strings, whole numbers, switches and lists, read
// strictly. Unknown names are errors, with the nearest known one as a suggestion.
//
// The library that parses is confined to toml_table.cc.
//
// Thread-safety: values. A TomlTable looks into its TomlDocument, which must outlive it.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

/// RETURNS: the name that a misspelt word was most likely meant to be; empty when none is near.
std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& names);
/// Like nearest_name, for a word that may well be right: one or two letters off, no more.
std::string_view slip_of(std::string_view word, const std::vector<std::string_view>& names);

/// One table. Reading a value FAILS with kInvalidArgument when it has another type or is out of
/// range; none stands for a value that is not there.
class TomlTable {
 public:
  /// FAILS: kInvalidArgument, naming a value that is none of `names`
  Result<void> check_names(const std::vector<std::string_view>& names) const;

  Result<std::optional<std::string>> string(std::string_view name) const;
  /// FAILS also: kParse when it is not there
  Result<std::string> required_string(std::string_view name) const;
  Result<std::optional<std::int64_t>> integer(std::string_view name, std::int64_t least,
                                              std::int64_t most) const;
  Result<std::optional<double>> number(std::string_view name, double least, double most) const;
  Result<std::optional<bool>> boolean(std::string_view name) const;
  /// FAILS also: kTooLarge for more than `most` of them
  Result<std::optional<std::vector<std::string>>> strings(std::string_view name,
                                                          std::size_t most) const;
  /// RETURNS: the table of this name; none when it is not there
  Result<std::optional<TomlTable>> table(std::string_view name) const;
  /// RETURNS: the tables written as [[name]]; empty when there are none. FAILS also: kTooLarge
  Result<std::vector<TomlTable>> tables(std::string_view name, std::size_t most) const;

  /// RETURNS: where `name` stands, for error messages: "key[2].role".
  std::string field(std::string_view name) const;

 private:
  friend class TomlDocument;
  TomlTable(const void* table, std::string path) : table_(table), path_(std::move(path)) {}
  Error wrong(std::string_view name, const std::string& expected) const;

  const void* table_;  // a toml::table
  std::string path_;   // empty at the root
};

class TomlDocument {
 public:
  /// FAILS: kParse (with line and column), kTooLarge (beyond 16 MiB)
  static Result<TomlDocument> parse(std::string_view text);
  TomlTable root() const { return {table_.get(), ""}; }

 private:
  explicit TomlDocument(std::shared_ptr<const void> table) : table_(std::move(table)) {}
  std::shared_ptr<const void> table_;  // a toml::table
};

}  // namespace hindsight
