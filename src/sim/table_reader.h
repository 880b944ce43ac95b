// Tables of text separated by tabs, or by another sign, plain or compressed by zstd, read row by
// row.
//
// The first line names the columns; a caller asks for the ones it needs, by name. What is broken
// and what is only ugly:
//   broken  another number of columns than the header has; a NUL byte anywhere; a used cell that is
//           not UTF-8; a line longer than the limit. Reading stops, and the error's field is
//           "file:line".
//   ugly    odd bytes in columns that nobody asked for, a byte order mark, "\r\n", blank lines, no
//           end of line after the last row. Read without a word.
//
// Memory is bounded by the longest line allowed, whatever the file expands to.
//
// Thread-safety: functions of their arguments; a TableParser has one owner at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

struct TableLimits {
  std::size_t max_line_bytes = std::size_t{1} << 20;
  std::uint64_t max_text_bytes = std::uint64_t{1} << 30;  // after decompression
};

/// Takes the cells of one row, in the order in which the columns were asked for; they are valid
/// during the call. An error ends the reading; file and line are added to it.
using RowSink = std::function<Result<void>(std::span<const std::string_view> cells)>;

/// What to read: the table's name in messages, and its columns. A cell never holds the separator:
/// quotes are signs like others. REQUIRES: columns are distinct
struct TableSpec {
  std::string name;
  std::vector<std::string> columns;
  TableLimits limits;
  char separator = '\t';
};

enum class TextEncoding : std::uint8_t { kPlain, kZstd };

/// Takes the text of a table in pieces of any size.
class TableParser {
 public:
  TableParser(TableSpec spec, RowSink sink);

  /// FAILS: kParse, kTooLarge (text beyond the limit), or the sink's error. No call may follow an
  /// error.
  Result<void> feed(std::string_view piece);
  /// The text has ended. FAILS: as feed; kParse when there was no header
  Result<void> finish();

 private:
  Result<void> take_line(std::string_view line);
  Result<void> take_header(std::string_view line);
  Result<void> take_row(std::string_view line);
  Error broken(std::string reason) const;

  static constexpr std::size_t kUnused = static_cast<std::size_t>(-1);

  TableSpec spec_;
  RowSink sink_;
  std::string carry_;               // the beginning of a line whose end is still to come
  std::vector<std::size_t> place_;  // of each column of the file: index into cells_, or kUnused
  std::vector<std::string_view> cells_;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t line_ = 0;
};

/// Reads a whole table from memory. FAILS: as TableParser; kCorrupt (zstd)
Result<void> parse_table(std::string_view bytes, TextEncoding encoding, const TableSpec& spec,
                         const RowSink& sink);

/// Reads a table file; compressed if its name ends in ".zst". `spec.name` is replaced by the path.
/// FAILS: as parse_table; kInvalidArgument (no such file), kIo
Result<void> read_table(const std::filesystem::path& path, TableSpec spec, const RowSink& sink);

/// RETURNS: whether the text is UTF-8 (shortest forms only, no surrogates, up to U+10FFFF).
bool is_utf8(std::string_view text);

}  // namespace hindsight
