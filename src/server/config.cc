#include "src/server/config.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "src/core/check.h"
#include "src/server/toml_table.h"

namespace hindsight {
namespace {

constexpr std::string_view kVariablePrefix = "HINDSIGHT_";
constexpr std::size_t kMaxListEntries = 1'000;
constexpr double kDayMs = 86'400'000.0;

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message), ""}; }

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (problem != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return port;
}

bool is_address(const std::string& text) {
  in6_addr ignored = {};
  return inet_pton(AF_INET, text.c_str(), &ignored) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
}

bool is_loopback(const std::string& address) {
  in_addr narrow = {};
  in6_addr wide = {};
  if (inet_pton(AF_INET, address.c_str(), &narrow) == 1) {
    return (ntohl(narrow.s_addr) >> 24) == 127;
  }
  return inet_pton(AF_INET6, address.c_str(), &wide) == 1 && IN6_IS_ADDR_LOOPBACK(&wide);
}

/// "127.0.0.1:8080", "[::1]:8080", "localhost:8080"; the port may be missing, and so may the
/// address.
Result<void> set_listen(ServerConfig& config, const SettingValue& value) {
  std::string_view text = std::get<std::string>(value);
  const Error unreadable =
      invalid(fmt::format("'{}' is not an address such as 127.0.0.1:8080 or [::1]:8080", text));
  std::string host;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return unreadable;
    }
    host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  } else if (std::count(text.begin(), text.end(), ':') > 1) {
    host = text;  // IPv6 without a port
    text = {};
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    host = text.substr(0, colon);
    text.remove_prefix(colon);
  }
  if (!text.empty()) {
    const std::optional<std::uint16_t> port =
        text.front() == ':' ? parse_port(text.substr(1)) : std::nullopt;
    if (!port) {
      return unreadable;
    }
    config.port = *port;
  }
  if (!host.empty()) {
    host = host == "localhost" ? "127.0.0.1" : host;
    if (!is_address(host)) {
      return unreadable;
    }
    config.address = host;
  }
  return {};
}

Result<void> set_origins(ServerConfig& config, const SettingValue& value) {
  const auto& origins = std::get<std::vector<std::string>>(value);
  for (const std::string& origin : origins) {
    const bool web = origin.starts_with("https://") || origin.starts_with("http://");
    if (!web || std::count(origin.begin(), origin.end(), '/') != 2) {
      return invalid(fmt::format("'{}' is not an origin such as https://shop.example", origin));
    }
  }
  config.cors_origins = origins;
  return {};
}

Result<void> set_log_level(ServerConfig& config, const SettingValue& value) {
  const std::optional<LogLevel> level = parse_log_level(std::get<std::string>(value));
  if (!level) {
    return invalid("must be debug, info, warning or error");
  }
  config.log_level = *level;
  return {};
}

Result<void> set_log_format(ServerConfig& config, const SettingValue& value) {
  const std::string& word = std::get<std::string>(value);
  if (word != "json" && word != "logfmt") {
    return invalid("must be json or logfmt");
  }
  config.log_format = word == "json" ? LogFormat::kJson : LogFormat::kLogfmt;
  return {};
}

Result<void> set_data(ServerConfig& config, const SettingValue& value) {
  const std::string& folder = std::get<std::string>(value);
  if (folder.empty() || folder.find('\0') != std::string::npos) {
    return invalid("must be a folder");
  }
  config.data = folder;
  return {};
}

template <auto kMember>
Result<void> set_member(ServerConfig& config, const SettingValue& value) {
  using Member = std::remove_reference_t<decltype(config.*kMember)>;
  if constexpr (std::is_same_v<Member, bool> || std::is_same_v<Member, double>) {
    config.*kMember = std::get<Member>(value);
  } else {
    config.*kMember = static_cast<Member>(std::get<std::int64_t>(value));
  }
  return {};
}

using Config = ServerConfig;
using Kind = SettingKind;
constexpr std::array<Setting, 24> kSettings = {{
    {"data", "hindsight-data", "Folder of the log, the snapshots and the keys", Kind::kText, 0, 0,
     set_data},
    {"listen", "127.0.0.1:8080", "Address and port; port 0 is any free one", Kind::kText, 0, 0,
     set_listen},
    {"allow_remote", "false", "Allow an address that other machines can reach", Kind::kSwitch, 0, 0,
     set_member<&Config::allow_remote>},
    {"threads", "0", "Threads that answer requests; 0 is one per core", Kind::kWhole, 0, 1024,
     set_member<&Config::threads>},
    {"learner_threads", "2", "Threads that learn from clicks", Kind::kWhole, 1, 1024,
     set_member<&Config::learner_threads>},
    {"max_connections", "10000", "Clients at once; more are told to come back", Kind::kWhole, 1,
     1e6, set_member<&Config::max_connections>},
    {"max_header_bytes", "16384", "Bytes of a request's header", Kind::kWhole, 1024, 65536,
     set_member<&Config::max_header_bytes>},
    {"key_rate", "0", "Requests per second of one key; 0 is no limit", Kind::kNumber, 0, 1e9,
     set_member<&Config::key_rate>},
    {"key_burst", "1000", "Requests at once of one key", Kind::kNumber, 1, 1e9,
     set_member<&Config::key_burst>},
    {"publishable_rate", "10", "Requests per second of one address with publishable keys",
     Kind::kNumber, 0, 1e9, set_member<&Config::publishable_rate>},
    {"publishable_burst", "50", "Requests at once of one address with publishable keys",
     Kind::kNumber, 1, 1e9, set_member<&Config::publishable_burst>},
    {"header_deadline_ms", "10000", "How long a header may take to arrive", Kind::kWhole, 1, kDayMs,
     set_member<&Config::header_deadline_ms>},
    {"body_deadline_ms", "30000", "How long a body may take to arrive", Kind::kWhole, 1, kDayMs,
     set_member<&Config::body_deadline_ms>},
    {"idle_deadline_ms", "75000", "How long a connection may wait for its next request",
     Kind::kWhole, 1, kDayMs, set_member<&Config::idle_deadline_ms>},
    {"write_deadline_ms", "30000", "How long a client may take to read an answer", Kind::kWhole, 1,
     kDayMs, set_member<&Config::write_deadline_ms>},
    {"drain_deadline_ms", "10000", "How long requests may go on when the server stops",
     Kind::kWhole, 0, kDayMs, set_member<&Config::drain_deadline_ms>},
    {"cors_origins", "", "Origins whose web pages may call the API", Kind::kList, 0, 0,
     set_origins},
    {"log_level", "info", "debug (each request), info, warning or error", Kind::kText, 0, 0,
     set_log_level},
    {"log_format", "logfmt", "logfmt or json, one line per event on stderr", Kind::kText, 0, 0,
     set_log_format},
    {"snapshot_events", "200000", "A snapshot after so many events of a collection", Kind::kWhole,
     1, 1e12, set_member<&Config::snapshot_events>},
    {"snapshot_seconds", "300", "A snapshot so long after the first event since the last",
     Kind::kWhole, 1, 1e9, set_member<&Config::snapshot_seconds>},
    {"accept_lost_end", "false", "Open a log that lost its end; what is missing is gone",
     Kind::kSwitch, 0, 0, set_member<&Config::accept_lost_end>},
    {"node", "0", "Number of this node, in its decision ids", Kind::kWhole, 0, 65535,
     set_member<&Config::node>},
    {"config", "", "TOML file with settings", Kind::kText, 0, 0, nullptr},
}};

Result<void> set_named(ServerConfig& config, const Setting& setting, const SettingValue& value,
                       std::string field) {
  Result<void> set = setting.set(config, value);
  if (!set.ok()) {
    Error error = set.error();
    error.field = std::move(field);
    return error;
  }
  return {};
}

std::string range_text(const Setting& setting) {
  return fmt::format(" from {:.0f} to {:.0f}", setting.least, setting.most);
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    words.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return words;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text, const Setting& setting) {
  Number number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto real = static_cast<double>(number);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(real) ||
      real < setting.least || real > setting.most) {
    return std::nullopt;
  }
  return number;
}

/// FAILS: kInvalidArgument, without a field
Result<SettingValue> parse_value(const Setting& setting, std::string_view text) {
  switch (setting.kind) {
    case Kind::kText:
      return SettingValue(std::string(text));
    case Kind::kList:
      return SettingValue(split(text));
    case Kind::kSwitch:
      if (text == "true" || text == "false") {
        return SettingValue(text == "true");
      }
      return invalid("must be true or false");
    case Kind::kWhole:
      if (const auto number = parse_number<std::int64_t>(text, setting)) {
        return SettingValue(*number);
      }
      return invalid("must be a whole number" + range_text(setting));
    case Kind::kNumber:
      if (const auto number = parse_number<double>(text, setting)) {
        return SettingValue(*number);
      }
      return invalid("must be a number" + range_text(setting));
  }
  HINDSIGHT_CHECK(false && "setting of no kind");
  std::abort();
}

/// RETURNS: none when the table does not have it.
Result<std::optional<SettingValue>> read_value(const TomlTable& table, const Setting& setting) {
  const auto pass = [](auto result) -> Result<std::optional<SettingValue>> {
    if (!result.ok()) {
      return result.error();
    }
    return *result ? std::optional<SettingValue>(**std::move(result)) : std::nullopt;
  };
  switch (setting.kind) {
    case Kind::kText:
      return pass(table.string(setting.name));
    case Kind::kList:
      return pass(table.strings(setting.name, kMaxListEntries));
    case Kind::kSwitch:
      return pass(table.boolean(setting.name));
    case Kind::kWhole:
      return pass(table.integer(setting.name, static_cast<std::int64_t>(setting.least),
                                static_cast<std::int64_t>(setting.most)));
    case Kind::kNumber:
      return pass(table.number(setting.name, setting.least, setting.most));
  }
  HINDSIGHT_CHECK(false && "setting of no kind");
  std::abort();
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

}  // namespace

std::span<const Setting> settings() {
  // The last row names the file itself; it is no setting inside it.
  return std::span(kSettings).first(kSettings.size() - 1);
}

std::string flag_name(const Setting& setting) {
  std::string name = std::string("--").append(setting.name);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string variable_name(const Setting& setting) {
  return std::string(kVariablePrefix) + upper(setting.name);
}

Result<void> set_from_text(ServerConfig& config, const Setting& setting, std::string_view text) {
  const Result<SettingValue> value = parse_value(setting, text);
  if (!value.ok()) {
    return Error{value.error().code, value.error().message, std::string(setting.name)};
  }
  return set_named(config, setting, *value, std::string(setting.name));
}

Result<ServerConfig> parse_config(std::string_view text, ServerConfig base) {
  HINDSIGHT_ASSIGN_OR_RETURN(const TomlDocument document, TomlDocument::parse(text));
  const TomlTable root = document.root();
  std::vector<std::string_view> names;
  for (const Setting& setting : settings()) {
    names.push_back(setting.name);
  }
  HINDSIGHT_RETURN_IF_ERROR(root.check_names(names));
  for (const Setting& setting : settings()) {
    HINDSIGHT_ASSIGN_OR_RETURN(const auto value, read_value(root, setting));
    if (value) {
      HINDSIGHT_RETURN_IF_ERROR(set_named(base, setting, *value, std::string(setting.name)));
    }
  }
  return base;
}

Result<void> apply_environment(ServerConfig& config, const Environment& environment) {
  std::vector<std::string> names;
  names.reserve(kSettings.size());
  for (const Setting& setting : kSettings) {
    names.push_back(variable_name(setting));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  for (const auto& [name, text] : environment) {
    if (!name.starts_with(kVariablePrefix)) {
      continue;
    }
    const auto known = std::find(names.begin(), names.end(), name);
    if (known != names.end()) {
      const Setting& setting = kSettings[static_cast<std::size_t>(known - names.begin())];
      Result<void> set =
          setting.set == nullptr ? Result<void>() : set_from_text(config, setting, text);
      if (!set.ok()) {
        return Error{set.error().code, set.error().message, name};
      }
    } else if (const std::string_view near = slip_of(name, views); !near.empty()) {
      return Error{ErrorCode::kInvalidArgument,
                   "there is no such setting; did you mean " + std::string(near) + "?", name};
    }
  }
  return {};
}

Result<void> check_config(const ServerConfig& config) {
  if (!config.allow_remote && !is_loopback(config.address)) {
    return Error{ErrorCode::kInvalidArgument,
                 "other machines can reach " + config.address +
                     ", and this server speaks no TLS; put a proxy in front of it, and say "
                     "--allow-remote if you mean it",
                 "listen"};
  }
  return {};
}

}  // namespace hindsight
