// JSON that goes out, written straight into one text.
//
// Values follow each other as they are called; commas are the writer's business, the right order of
// keys and values the caller's. (RapidJSON's writer computes with a null pointer when it is new,
// which the sanitizers of clang refuse.)
//
// Thread-safety: an object belongs to one thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hindsight {

class JsonWriter {
 public:
  JsonWriter() { out_.reserve(kFirstBytes); }

  JsonWriter& key(std::string_view name);
  /// REQUIRES: UTF-8
  void text(std::string_view value);
  /// The shortest digits that read back as the same number; null for what JSON cannot say.
  void number(double value);
  void number(const std::optional<double>& value);
  void whole(std::uint64_t value);
  void whole_signed(std::int64_t value);
  void flag(bool value) { plain(value ? "true" : "false"); }
  void null() { plain("null"); }

  template <class Body>
  void object(Body body) {
    plain("{");
    body();
    out_ += '}';
  }
  template <class Range, class Each>
  void array(const Range& range, Each each) {
    plain("[");
    for (const auto& element : range) {
      each(element);
    }
    out_ += ']';
  }
  template <class Range>
  void texts(const Range& range) {
    array(range, [this](std::string_view element) { text(element); });
  }

  /// RETURNS: what was written; the writer is empty again.
  std::string take() { return std::exchange(out_, {}); }

 private:
  static constexpr std::size_t kFirstBytes = 1024;

  /// A value that needs no escapes, after a comma where one belongs.
  void plain(std::string_view value) {
    separate();
    out_ += value;
  }
  void separate() {
    // A text ends with its quote, so that these signs are never the end of one.
    if (!out_.empty() && out_.back() != '{' && out_.back() != '[' && out_.back() != ':') {
      out_ += ',';
    }
  }
  void escaped(std::string_view value);

  std::string out_;
};

}  // namespace hindsight
