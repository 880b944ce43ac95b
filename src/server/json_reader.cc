#include "src/server/json_reader.h"

#include <cmath>
#include <memory>

#include "fmt/format.h"

namespace hindsight {
namespace {

constexpr std::size_t kMaxDepth = 32;
/// A parser that has grown beyond this for one large body is not kept.
constexpr std::size_t kKeptBytes = std::size_t{1} << 20;
constexpr std::size_t kMessageBytes = 64;

/// The parser of this thread, with room for `bytes`; null without memory.
simdjson::dom::parser* thread_parser(std::size_t bytes) {
  // Made once per thread: a parser's buffers are worth more than all the rest of a small request.
  thread_local std::unique_ptr<simdjson::dom::parser> parser;
  if (parser == nullptr || (parser->capacity() > kKeptBytes && bytes <= kKeptBytes)) {
    parser = std::make_unique<simdjson::dom::parser>();
    if (parser->allocate(std::size_t{1} << 14, kMaxDepth) != simdjson::SUCCESS) {
      parser.reset();
    }
  }
  return parser.get();
}

std::string_view type_words(JsonValue value) {
  switch (value.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "an array";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::INT64:
    case simdjson::dom::element_type::UINT64:
    case simdjson::dom::element_type::DOUBLE:
      return "a number";
    case simdjson::dom::element_type::STRING:
      return "a string";
    case simdjson::dom::element_type::BOOL:
      return "true or false";
    case simdjson::dom::element_type::NULL_VALUE:
      break;
  }
  return "null";
}

}  // namespace

std::string shortened(std::string_view text) {
  if (text.size() <= kMessageBytes) {
    return std::string(text);
  }
  std::size_t end = kMessageBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;  // not inside a character
  }
  return std::string(text.substr(0, end)) + "...";
}

std::string Place::text() const {
  const std::string above = up == nullptr ? std::string() : up->text();
  if (index != kNoIndex) {
    return above + '[' + std::to_string(index) + ']';
  }
  return above.empty() || name.empty() ? above + shortened(name) : above + '.' + shortened(name);
}

Error invalid(const Place& at, std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message), at.text()};
}

Error wrong_type(JsonValue value, const Place& at, std::string_view wanted) {
  return invalid(at, fmt::format("must be {}, not {}", wanted, type_words(value)));
}

Error unknown_field(const Place& at, std::string_view name,
                    std::span<const std::string_view> known) {
  return invalid(at.field(name), fmt::format("no such field; there are: {}",
                                             fmt::join(known.begin(), known.end(), ", ")));
}

Error repeated_field(const Place& at) { return invalid(at, "stands twice in one object"); }

Error missing_field(const Place& at) { return invalid(at, "must be given"); }

Result<JsonValue> parse_json(std::string_view body) {
  const Error empty{ErrorCode::kParse, "the body is empty; send JSON", {}};
  if (body.empty()) {
    return empty;  // it may have no address, which simdjson would copy from
  }
  simdjson::dom::parser* parser = thread_parser(body.size());
  if (parser == nullptr) {
    return Error{ErrorCode::kOverloaded, "no memory to read the body; try again later", {}};
  }
  JsonValue root;
  // The parser copies the body into its own buffer, which has the padding that it reads beyond.
  const simdjson::error_code error = parser->parse(body.data(), body.size(), true).get(root);
  switch (error) {
    case simdjson::SUCCESS:
      return root;
    case simdjson::MEMALLOC:
    case simdjson::CAPACITY:
      return Error{ErrorCode::kOverloaded, "no memory to read the body; try again later", {}};
    case simdjson::EMPTY:
      return empty;
    case simdjson::DEPTH_ERROR:
      return Error{ErrorCode::kParse,
                   fmt::format("the body is nested more than {} levels deep", kMaxDepth),
                   {}};
    case simdjson::UTF8_ERROR:
      return Error{ErrorCode::kParse, "the body is not valid UTF-8", {}};
    case simdjson::NUMBER_ERROR:
      return Error{ErrorCode::kParse, "a number is malformed or beyond what can be stored", {}};
    default:
      return Error{ErrorCode::kParse,
                   fmt::format("the body is not JSON: {}", simdjson::error_message(error)),
                   {}};
  }
}

bool has_controls(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) {
      return true;
    }
    // U+0080 to U+009F are C2 80 to C2 9F.
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      return true;
    }
  }
  return false;
}

Result<void> check_text(std::string_view text, const Place& at, const TextLimits& limits) {
  if (text.size() < limits.min_bytes || text.size() > limits.max_bytes) {
    return invalid(at, fmt::format("must have {} to {} bytes, not {}", limits.min_bytes,
                                   limits.max_bytes, text.size()));
  }
  if (!limits.allow_controls && has_controls(text)) {
    return invalid(at, "must not hold control characters");
  }
  return {};
}

Result<std::string_view> read_text(JsonValue value, const Place& at, const TextLimits& limits) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) {
    return wrong_type(value, at, "a string");
  }
  HINDSIGHT_RETURN_IF_ERROR(check_text(text, at, limits));
  return text;
}

Result<bool> read_flag(JsonValue value, const Place& at) {
  bool flag = false;
  if (value.get(flag) != simdjson::SUCCESS) {
    return wrong_type(value, at, "true or false");
  }
  return flag;
}

Result<double> read_number(JsonValue value, const Place& at, const NumberLimits& limits) {
  double number = 0.0;
  if (value.get(number) != simdjson::SUCCESS) {
    return wrong_type(value, at, "a number");
  }
  if (!(number >= limits.minimum && number <= limits.maximum)) {
    return invalid(at, fmt::format("must be a number from {} to {}, not {}", limits.minimum,
                                   limits.maximum, number));
  }
  return number;
}

Result<std::uint64_t> read_whole(JsonValue value, const Place& at, const WholeLimits& limits) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: below it a double is one whole number
  std::uint64_t whole = 0;
  double number = 0.0;
  bool fits = value.get(whole) == simdjson::SUCCESS;
  if (!fits && value.get(number) != simdjson::SUCCESS) {
    return wrong_type(value, at, "a whole number");
  }
  if (!fits && number >= 0.0 && number <= kExact && std::floor(number) == number) {
    whole = static_cast<std::uint64_t>(number);
    fits = true;
  }
  if (!fits || whole < limits.minimum || whole > limits.maximum) {
    return invalid(
        at, fmt::format("must be a whole number from {} to {}", limits.minimum, limits.maximum));
  }
  return whole;
}

Result<std::size_t> read_word(JsonValue value, const Place& at,
                              std::span<const std::string_view> words) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) {
    return wrong_type(value, at, "a string");
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == text) {
      return i;
    }
  }
  return invalid(at, fmt::format("must be {}", fmt::join(words.begin(), words.end(), " or ")));
}

namespace {

Result<void> check_count(std::size_t count, const Place& at, const CountLimits& limits) {
  if (count < limits.minimum) {
    return invalid(at, fmt::format("must have at least {}", limits.minimum));
  }
  if (count > limits.maximum) {
    return Error{ErrorCode::kTooLarge,
                 fmt::format("has {} entries; at most {} are allowed", count, limits.maximum),
                 at.text()};
  }
  return {};
}

/// simdjson stops counting at 2^24 - 1 and says so by that number; no limit is near it.
template <class Container>
Result<Container> read_container(JsonValue value, const Place& at, const CountLimits& limits,
                                 std::string_view wanted) {
  Container container;
  if (value.get(container) != simdjson::SUCCESS) {
    return wrong_type(value, at, wanted);
  }
  HINDSIGHT_RETURN_IF_ERROR(check_count(container.size(), at, limits));
  return container;
}

}  // namespace

Result<simdjson::dom::array> read_array(JsonValue value, const Place& at,
                                        const CountLimits& limits) {
  return read_container<simdjson::dom::array>(value, at, limits, "an array");
}

Result<simdjson::dom::object> read_map(JsonValue value, const Place& at,
                                       const CountLimits& limits) {
  return read_container<simdjson::dom::object>(value, at, limits, "an object");
}

}  // namespace hindsight
