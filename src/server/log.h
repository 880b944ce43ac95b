// Structured logs: one line per event on stderr, as JSON or as name=value pairs.
//
// A value may be anything that a client sent: control characters, quotes and bytes that are not
// UTF-8 are escaped, and long values cut, so that an event is one line and a terminal is left as it
// was. Callers keep secrets out: no keys, no query texts, no users.
//
// Thread-safety: a Log may be used from any thread.

#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace hindsight {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : std::uint8_t { kLogfmt, kJson };

/// "debug", "info", "warning", "error"; none for another word.
std::optional<LogLevel> parse_log_level(std::string_view word);

struct LogField {
  std::string_view name;  // of our own: letters and underscores
  std::variant<std::string_view, std::int64_t, double, bool> value;
};

struct LogEvent {
  std::int64_t time_ms = 0;  // since 1970
  LogLevel level = LogLevel::kInfo;
  std::string_view message;
  std::initializer_list<LogField> fields = {};
};

/// RETURNS: one line, without its end.
std::string format_event(LogFormat format, const LogEvent& event);

struct LogOptions {
  LogLevel level = LogLevel::kInfo;  // what is below it is dropped
  LogFormat format = LogFormat::kLogfmt;
  std::function<std::int64_t()> clock;  // milliseconds since 1970
};

class Log {
 public:
  explicit Log(LogOptions options);
  ~Log();

  bool wants(LogLevel level) const { return level >= options_.level; }
  void write(LogLevel level, std::string_view message,
             std::initializer_list<LogField> fields = {}) const;

 private:
  class Sink;
  LogOptions options_;
  std::unique_ptr<Sink> sink_;
};

}  // namespace hindsight
