#include "src/server/log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <cmath>
#include <ctime>
#include <utility>

#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr std::size_t kMaxValueBytes = 1024;
constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warning", "error"};

std::string_view level_name(LogLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

/// The first code point of a text that is not empty, by the table of well-formed UTF-8.
CodePoint decode(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) {
    return {first, 1};
  }
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) {
    return {};
  }
  std::uint32_t value = first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xC0u) != 0x80u) {
      return {};
    }
    value = value << 6 | (at(i) & 0x3Fu);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  return overlong || surrogate || value > 0x10FFFF ? CodePoint() : CodePoint{value, bytes};
}

/// Controls of both blocks, line and paragraph separators, and marks that turn text around.
bool is_harmful(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/// Appends a text between quotes that a JSON parser reads; bytes that are not UTF-8 become \xNN,
/// with the backslash escaped.
void append_quoted(std::string& out, std::string_view text) {
  const bool cut = text.size() > kMaxValueBytes;
  text = text.substr(0, kMaxValueBytes);
  out += '"';
  while (!text.empty()) {
    const CodePoint code = decode(text);
    if (code.bytes == 0) {
      fmt::format_to(std::back_inserter(out), "\\\\x{:02x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (code.value == '"' || code.value == '\\') {
      out += '\\';
      out += text[0];
    } else if (is_harmful(code.value)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code.value);
    } else {
      out += text.substr(0, code.bytes);
    }
    text.remove_prefix(code.bytes);
  }
  out += cut ? "...\"" : "\"";
}

/// Needs no quotes in name=value.
bool is_plain(std::string_view text) {
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == ':' || c == '/' || c == '-' || c == '_' || c == '{' ||
                       c == '}';
    if (!plain) {
      return false;
    }
  }
  return !text.empty() && text.size() <= kMaxValueBytes;
}

void append_text(std::string& out, LogFormat format, std::string_view text) {
  if (format == LogFormat::kLogfmt && is_plain(text)) {
    out += text;
  } else {
    append_quoted(out, text);
  }
}

void append_value(std::string& out, LogFormat format, const LogField& field) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    append_text(out, format, *text);
  } else if (const auto* whole = std::get_if<std::int64_t>(&field.value)) {
    fmt::format_to(std::back_inserter(out), "{}", *whole);
  } else if (const auto* real = std::get_if<double>(&field.value)) {
    fmt::format_to(std::back_inserter(out), "{:.6g}", std::isfinite(*real) ? *real : 0.0);
  } else {
    out += std::get<bool>(field.value) ? "true" : "false";
  }
}

void append_field(std::string& out, LogFormat format, const LogField& field) {
  if (format == LogFormat::kJson) {
    out += out.empty() ? "{\"" : ",\"";
    out += field.name;
    out += "\":";
  } else {
    out += out.empty() ? "" : " ";
    out += field.name;
    out += '=';
  }
  append_value(out, format, field);
}

std::string time_text(std::int64_t time_ms) {
  const std::int64_t whole = time_ms / 1000;
  const std::time_t seconds = static_cast<std::time_t>(whole);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     time_ms - whole * 1000);
}

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view word) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == word) {
      return static_cast<LogLevel>(i);
    }
  }
  return std::nullopt;
}

std::string format_event(LogFormat format, const LogEvent& event) {
  std::string out;
  append_field(out, format, {"time", std::string_view(time_text(event.time_ms))});
  append_field(out, format, {"level", level_name(event.level)});
  append_field(out, format, {"message", event.message});
  for (const LogField& field : event.fields) {
    append_field(out, format, field);
  }
  return format == LogFormat::kJson ? out + "}" : out;
}

/// The library's logger: whole lines, from any thread.
class Log::Sink {
 public:
  Sink() : logger_("hindsight", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_pattern("%v");
    logger_.set_level(spdlog::level::trace);
  }
  void line(std::string_view text) { logger_.log(spdlog::level::info, text); }

 private:
  spdlog::logger logger_;
};

Log::Log(LogOptions options) : options_(std::move(options)), sink_(std::make_unique<Sink>()) {
  HINDSIGHT_CHECK(options_.clock != nullptr);
}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view message,
                std::initializer_list<LogField> fields) const {
  if (wants(level)) {
    sink_->line(format_event(options_.format, {options_.clock(), level, message, fields}));
  }
}

}  // namespace hindsight
