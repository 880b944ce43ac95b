#include "src/server/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

namespace hindsight {
namespace {

/// Room for the digits of any number.
using Digits = std::array<char, 32>;

template <class Number, class... Format>
std::string_view digits_of(Number value, Digits& room, Format... format) {
  const std::to_chars_result end =
      std::to_chars(room.data(), room.data() + room.size(), value, format...);
  return {room.data(), static_cast<std::size_t>(end.ptr - room.data())};
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escape(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
      break;
  }
}

}  // namespace

void JsonWriter::escaped(std::string_view value) {
  out_ += '"';
  std::size_t begin = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (needs_escape(value[i])) {
      out_ += value.substr(begin, i - begin);
      append_escape(out_, value[i]);
      begin = i + 1;
    }
  }
  out_ += value.substr(begin);
  out_ += '"';
}

JsonWriter& JsonWriter::key(std::string_view name) {
  text(name);
  out_ += ':';
  return *this;
}

void JsonWriter::text(std::string_view value) {
  separate();
  escaped(value);
}

void JsonWriter::number(double value) {
  // Bare digits would be read as a whole number, and there is none of more than 64 bits.
  constexpr double kFirstBeyond = 9223372036854775808.0;  // 2^63
  if (!std::isfinite(value)) {
    return null();
  }
  Digits room;
  plain(std::abs(value) < kFirstBeyond ? digits_of(value, room)
                                       : digits_of(value, room, std::chars_format::scientific));
}

void JsonWriter::number(const std::optional<double>& value) { value ? number(*value) : null(); }

void JsonWriter::whole(std::uint64_t value) {
  Digits room;
  plain(digits_of(value, room));
}

void JsonWriter::whole_signed(std::int64_t value) {
  Digits room;
  plain(digits_of(value, room));
}

}  // namespace hindsight
