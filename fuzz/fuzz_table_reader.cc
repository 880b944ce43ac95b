// Feeds arbitrary bytes to the table reader, as plain text and as zstd.
//
// The first byte chooses the encoding and the size of the pieces. Besides not crashing: a cell that
// was handed on is UTF-8 without separators, and text that arrives in pieces reads like text that
// arrives at once.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/check.h"
#include "src/sim/table_reader.h"

namespace {

using hindsight::Result;

struct Reading {
  std::vector<std::string> cells;
  std::string error;  // empty: none

  friend bool operator==(const Reading&, const Reading&) = default;
};

hindsight::TableSpec spec() {
  hindsight::TableSpec spec;
  spec.name = "fuzz.tsv";
  spec.columns = {"id", "year"};
  // Small, so that the fuzzer meets the limits.
  spec.limits = {.max_line_bytes = 512, .max_text_bytes = std::uint64_t{1} << 16};
  return spec;
}

hindsight::RowSink collect(Reading& reading) {
  return [&reading](std::span<const std::string_view> cells) -> Result<void> {
    HINDSIGHT_CHECK(cells.size() == 2);
    for (const std::string_view cell : cells) {
      HINDSIGHT_CHECK(hindsight::is_utf8(cell));
      HINDSIGHT_CHECK(cell.find_first_of(std::string_view("\0\t\n", 3)) == std::string_view::npos);
      reading.cells.emplace_back(cell);
    }
    return {};
  };
}

void note(Reading& reading, const Result<void>& result) {
  if (!result.ok()) {
    reading.error = to_string(result.error());
    HINDSIGHT_CHECK(!reading.error.empty());
  }
}

Reading read_at_once(std::string_view text, hindsight::TextEncoding encoding) {
  Reading reading;
  note(reading, hindsight::parse_table(text, encoding, spec(), collect(reading)));
  return reading;
}

Reading read_in_pieces(std::string_view text, std::size_t piece_bytes) {
  Reading reading;
  hindsight::TableParser parser(spec(), collect(reading));
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
    const Result<void> fed = parser.feed(text.substr(at, piece_bytes));
    if (!fed.ok()) {
      note(reading, fed);
      return reading;
    }
  }
  note(reading, parser.finish());
  return reading;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  if ((data[0] & 1) != 0) {
    read_at_once(text, hindsight::TextEncoding::kZstd);
    return 0;
  }
  const std::size_t piece_bytes = (data[0] >> 1) + 1;
  HINDSIGHT_CHECK(read_in_pieces(text, piece_bytes) ==
                  read_at_once(text, hindsight::TextEncoding::kPlain));
  return 0;
}
