// Rankings from a text: one per line, ids separated by spaces, tabs or commas, best first.
//
// Blank lines and lines that begin with # are passed over. The first ranking says which items there
// are; every other one names each of them once. Memory is bounded by the longest line allowed.
//
// Thread-safety: one owner at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hindsight/result.h"
#include "hindsight/types.h"

namespace hindsight::cli {

inline constexpr std::size_t kMaxRankedItems = 100'000;
inline constexpr std::size_t kMaxRankingBytes = std::size_t{1} << 25;  // of a line

class RankingReader {
 public:
  /// "-" is standard input. FAILS: kInvalidArgument (no such file), kIo
  static Result<RankingReader> open(const std::string& path);

  /// RETURNS: the next ranking, as numbers of ids(), valid until the next call; empty at the end.
  /// FAILS: kParse, kTooLarge, kIo; the error's field is "file:line"
  Result<std::span<const ItemIndex>> next();

  /// The items, in the order of the first ranking.
  const std::vector<std::string>& ids() const { return ids_; }
  /// How many bytes were read.
  std::uint64_t bytes() const { return bytes_; }
  /// The size of the file; 0 where it is not known.
  std::uint64_t size() const { return size_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const;
  };

  RankingReader(std::string name, std::FILE* file);
  Error broken(std::string reason, ErrorCode code = ErrorCode::kParse) const;
  /// RETURNS: false at the end.
  Result<bool> read_line();
  Result<void> read_first(std::span<const std::string_view> words);
  Result<void> read_other(std::span<const std::string_view> words);

  std::string name_;  // in messages
  std::unique_ptr<std::FILE, Close> file_;
  std::string line_;
  std::uint64_t line_number_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t size_ = 0;
  std::vector<std::string> ids_;
  std::unordered_map<std::string, ItemIndex> index_;
  std::vector<ItemIndex> ranking_;
  std::vector<std::uint64_t> last_seen_;  // by item: the line that named it last
};

}  // namespace hindsight::cli
