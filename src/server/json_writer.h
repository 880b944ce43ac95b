// JSON that goes out: RapidJSON's writer with our values.
//
// Thread-safety: an object belongs to one thread.

#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace hindsight {

class JsonWriter {
 public:
  JsonWriter& key(std::string_view name) {
    writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
    return *this;
  }
  void text(std::string_view value) {
    writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  /// The shortest digits that read back as the same number; null for what JSON cannot say.
  void number(double value) {
    if (!std::isfinite(value)) {
      writer_.Null();
      return;
    }
    std::array<char, 32> digits;
    const std::to_chars_result end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value);
    writer_.RawValue(digits.data(), static_cast<std::size_t>(end.ptr - digits.data()),
                     rapidjson::kNumberType);
  }
  void number(const std::optional<double>& value) {
    number(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  void whole(std::uint64_t value) { writer_.Uint64(value); }
  void whole_signed(std::int64_t value) { writer_.Int64(value); }
  void flag(bool value) { writer_.Bool(value); }
  void null() { writer_.Null(); }

  template <class Body>
  void object(Body body) {
    writer_.StartObject();
    body();
    writer_.EndObject();
  }
  template <class Range, class Each>
  void array(const Range& range, Each each) {
    writer_.StartArray();
    for (const auto& element : range) {
      each(element);
    }
    writer_.EndArray();
  }
  template <class Range>
  void texts(const Range& range) {
    array(range, [this](std::string_view element) { text(element); });
  }

  std::string take() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  rapidjson::StringBuffer buffer_{nullptr, 1024};
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace hindsight
