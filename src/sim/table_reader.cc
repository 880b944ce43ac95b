#include "src/sim/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/core/check.h"
#include "src/sim/text_file.h"
#include "src/sim/zstd_stream.h"

namespace hindsight {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Calls `take` with every cell and its number. RETURNS: how many cells there are.
template <class Take>
std::size_t split(std::string_view line, char separator, Take take) {
  std::size_t count = 0;
  while (true) {
    const std::size_t end = line.find(separator);
    take(line.substr(0, end), count++);
    if (end == std::string_view::npos) {
      return count;
    }
    line.remove_prefix(end + 1);
  }
}

/// Bytes of the UTF-8 sequence at the front of `text`, 0 where there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length <= 1) {
    return length;
  }
  if (text.size() < length) {
    return 0;
  }
  // The second byte's range excludes longer forms than needed, surrogates, and beyond U+10FFFF.
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) {
    return 0;
  }
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) {
      return 0;
    }
  }
  return length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

TableParser::TableParser(TableSpec spec, RowSink sink)
    : spec_(std::move(spec)), sink_(std::move(sink)), cells_(spec_.columns.size()) {}

Error TableParser::broken(std::string reason) const {
  return Error{ErrorCode::kParse, std::move(reason), fmt::format("{}:{}", spec_.name, line_)};
}

Result<void> TableParser::feed(std::string_view piece) {
  text_bytes_ += piece.size();
  if (text_bytes_ > spec_.limits.max_text_bytes) {
    return Error{ErrorCode::kTooLarge,
                 fmt::format("more than {} bytes of text", spec_.limits.max_text_bytes),
                 spec_.name};
  }
  while (true) {
    const std::size_t end = piece.find('\n');
    const std::size_t length = carry_.size() + std::min(end, piece.size());
    if (length > spec_.limits.max_line_bytes) {
      ++line_;
      return broken(fmt::format("longer than {} bytes", spec_.limits.max_line_bytes));
    }
    if (end == std::string_view::npos) {
      carry_.append(piece);
      return {};
    }
    if (carry_.empty()) {
      HINDSIGHT_RETURN_IF_ERROR(take_line(piece.substr(0, end)));
    } else {
      carry_.append(piece.substr(0, end));
      HINDSIGHT_RETURN_IF_ERROR(take_line(carry_));
      carry_.clear();
    }
    piece.remove_prefix(end + 1);
  }
}

Result<void> TableParser::finish() {
  if (!carry_.empty()) {
    HINDSIGHT_RETURN_IF_ERROR(take_line(carry_));
    carry_.clear();
  }
  if (place_.empty()) {
    return Error{ErrorCode::kParse, "no header line", spec_.name};
  }
  return {};
}

Result<void> TableParser::take_line(std::string_view line) {
  ++line_;
  if (line_ == 1 && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  if (line.empty()) {
    return {};
  }
  if (line.find('\0') != std::string_view::npos) {
    return broken("a NUL byte; is this a text file?");
  }
  return place_.empty() ? take_header(line) : take_row(line);
}

Result<void> TableParser::take_header(std::string_view line) {
  std::vector<std::size_t> seen(spec_.columns.size(), 0);
  std::vector<std::size_t> place;
  split(line, spec_.separator, [&](std::string_view cell, std::size_t) {
    const auto at = std::find(spec_.columns.begin(), spec_.columns.end(), cell);
    place.push_back(
        at == spec_.columns.end() ? kUnused : static_cast<std::size_t>(at - spec_.columns.begin()));
    if (place.back() != kUnused) {
      ++seen[place.back()];
    }
  });
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] != 1) {
      return broken(fmt::format("{} column named '{}' in the header",
                                seen[i] == 0 ? "no" : "more than one", spec_.columns[i]));
    }
  }
  place_ = std::move(place);
  return {};
}

Result<void> TableParser::take_row(std::string_view line) {
  const std::size_t count = split(line, spec_.separator, [&](std::string_view cell, std::size_t i) {
    if (i < place_.size() && place_[i] != kUnused) {
      cells_[place_[i]] = cell;
    }
  });
  if (count != place_.size()) {
    return broken(fmt::format("{} columns where the header has {}", count, place_.size()));
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (!is_utf8(cells_[i])) {
      return broken(fmt::format("column '{}' is not UTF-8", spec_.columns[i]));
    }
  }
  if (Result<void> taken = sink_(cells_); !taken.ok()) {
    Error error = taken.error();
    error.field = fmt::format("{}:{}", spec_.name, line_);
    return error;
  }
  return {};
}

Result<void> parse_table(std::string_view bytes, TextEncoding encoding, const TableSpec& spec,
                         const RowSink& sink) {
  TableParser parser(spec, sink);
  if (encoding == TextEncoding::kPlain) {
    HINDSIGHT_RETURN_IF_ERROR(parser.feed(bytes));
    return parser.finish();
  }
  ZstdStream zstd;
  HINDSIGHT_RETURN_IF_ERROR(zstd.feed(bytes, [&](std::string_view p) { return parser.feed(p); }));
  HINDSIGHT_RETURN_IF_ERROR(zstd.finish());
  return parser.finish();
}

Result<void> read_table(const std::filesystem::path& path, TableSpec spec, const RowSink& sink) {
  spec.name = path.string();
  TableParser parser(std::move(spec), sink);
  HINDSIGHT_RETURN_IF_ERROR(
      read_text_pieces(path, [&](std::string_view piece) { return parser.feed(piece); }));
  return parser.finish();
}

}  // namespace hindsight
