// FindingsJson: what an experiment found, written as JSON.
//
// Thread-safety: one owner at a time.

#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/sim/utf8.h"

namespace hindsight {

/// A RapidJSON writer that knows our values: infinity and "none" are null.
class FindingsJson {
 public:
  FindingsJson& key(std::string_view name) {
    writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
    return *this;
  }
  void text(std::string_view value) {
    const std::string valid = as_utf8(value);
    writer_.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
  }
  void number(double value) { std::isfinite(value) ? writer_.Double(value) : writer_.Null(); }
  void number(const std::optional<double>& value) {
    value ? number(*value) : static_cast<void>(writer_.Null());
  }
  void count(std::uint64_t value) { writer_.Uint64(value); }
  void flag(bool value) { writer_.Bool(value); }

  template <class Range, class Each>
  void array(const Range& range, Each each) {
    writer_.StartArray();
    for (const auto& element : range) {
      each(element);
    }
    writer_.EndArray();
  }
  template <class Body>
  void object(Body body) {
    writer_.StartObject();
    body();
    writer_.EndObject();
  }
  std::string str() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace hindsight
