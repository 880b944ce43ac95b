// Strict reading of JSON values: what is wrong is refused and named by its place, never guessed.
//
// Used by json_input.cc alone; the readers below are where simdjson is known.
//
// Thread-safety: pure functions; parse_json keeps one parser per thread.

#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "hindsight/result.h"
#include "src/core/check.h"
#include "src/core/planted.h"

namespace hindsight {

using JsonValue = simdjson::dom::element;

/// Where a value stands: a chain from the value up to the body. Written out only in an error.
struct Place {
  static constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();

  const Place* up = nullptr;
  std::string_view name = {};    // of a field, or
  std::size_t index = kNoIndex;  // of an element

  Place field(std::string_view field_name) const { return {this, field_name, kNoIndex}; }
  Place element(std::size_t at) const { return {this, {}, at}; }
  /// "candidates[3].id"; empty for the body itself.
  std::string text() const;
};

Error invalid(const Place& at, std::string message);
/// RETURNS: the text, cut to what fits into a message.
std::string shortened(std::string_view text);

/// Parses a body of at most 32 levels. The value lives until the next call on this thread.
/// FAILS: kParse, kOverloaded (no memory)
Result<JsonValue> parse_json(std::string_view body);

struct TextLimits {
  std::size_t min_bytes = 0;
  std::size_t max_bytes = 0;
  bool allow_controls = false;  // line ends and the like
};
/// Text as item ids, topics and names are: it may stand in a log or on a screen.
bool has_controls(std::string_view text);
/// The rule for a text that did not come from JSON, too. FAILS: kInvalidArgument
Result<void> check_text(std::string_view text, const Place& at, const TextLimits& limits);

Result<std::string_view> read_text(JsonValue value, const Place& at, const TextLimits& limits);
Result<bool> read_flag(JsonValue value, const Place& at);

struct NumberLimits {
  double minimum = std::numeric_limits<double>::lowest();
  double maximum = std::numeric_limits<double>::max();
};
Result<double> read_number(JsonValue value, const Place& at, const NumberLimits& limits = {});

struct WholeLimits {
  std::uint64_t minimum = 0;
  std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max();
};
/// 7, and 7.0 as well.
Result<std::uint64_t> read_whole(JsonValue value, const Place& at, const WholeLimits& limits);

/// RETURNS: the index of the word in `words`.
Result<std::size_t> read_word(JsonValue value, const Place& at,
                              std::span<const std::string_view> words);

struct CountLimits {
  std::size_t minimum = 0;
  std::size_t maximum = 0;
};
/// FAILS: kInvalidArgument (no array, too few), kTooLarge (too many)
Result<simdjson::dom::array> read_array(JsonValue value, const Place& at,
                                        const CountLimits& limits);
/// The same of an object whose names are the caller's.
Result<simdjson::dom::object> read_map(JsonValue value, const Place& at, const CountLimits& limits);

Error wrong_type(JsonValue value, const Place& at, std::string_view wanted);
Error unknown_field(const Place& at, std::string_view name,
                    std::span<const std::string_view> known);
Error repeated_field(const Place& at);
Error missing_field(const Place& at);

/// Calls `each(index of the name in known, value, place) -> Result<void>` for every field.
/// RETURNS: a bit per name that was there. FAILS: as each; kInvalidArgument for a name that is not
/// known or comes twice. REQUIRES: at most 32 names
template <class Each>
Result<std::uint32_t> read_fields(JsonValue value, const Place& at,
                                  std::span<const std::string_view> known, Each each) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) {
    return wrong_type(value, at, "an object");
  }
  std::uint32_t seen = 0;
  for (const simdjson::dom::key_value_pair field : object) {
    std::size_t index = 0;
    while (index < known.size() && known[index] != field.key) {
      ++index;
    }
    if (index == known.size()) {
      return unknown_field(at, field.key, known);
    }
    const Place place = at.field(known[index]);
    const std::uint32_t bit = std::uint32_t{1} << index;
    if ((seen & bit) != 0 && !planted(Fault::kAcceptDuplicateKey)) {
      return repeated_field(place);
    }
    seen |= bit;
    HINDSIGHT_RETURN_IF_ERROR(each(index, field.value, place));
  }
  return seen;
}

}  // namespace hindsight
