// The table of settings, and how each of them is set.

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "src/server/config.h"
#include "src/server/forwarded.h"

namespace hindsight {
namespace {

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

Result<void> set_proxies(ServerConfig& config, const SettingValue& value) {
  const auto& texts = std::get<std::vector<std::string>>(value);
  const Result<TrustedProxies> proxies = TrustedProxies::parse(texts);
  if (!proxies.ok()) {
    return proxies.error();
  }
  config.trusted_proxies = texts;
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
Result<void> set_file(ServerConfig& config, const SettingValue& value) {
  const std::string& path = std::get<std::string>(value);
  if (path.find('\0') != std::string::npos) {
    return invalid("must be a file");
  }
  config.*kMember = path;
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
constexpr std::array<Setting, 39> kSettings = {{
    {"data", "hindsight-data", "Folder of the log, the snapshots and the keys", Kind::kText, 0, 0,
     set_data},
    {"listen", "127.0.0.1:8080", "Address and port; port 0 is any free one", Kind::kText, 0, 0,
     set_listen},
    {"allow_remote", "false", "Allow an address that other machines can reach", Kind::kSwitch, 0, 0,
     set_member<&Config::allow_remote>},
    {"tls_cert", "", "Certificate in PEM form, then those that vouch for it; speaks HTTPS",
     Kind::kText, 0, 0, set_file<&Config::tls_cert>},
    {"tls_key", "", "Private key of the certificate, in PEM form", Kind::kText, 0, 0,
     set_file<&Config::tls_key>},
    {"trusted_proxies", "", "Addresses and networks whose X-Forwarded-For is believed", Kind::kList,
     0, 0, set_proxies},
    {"threads", "0", "Threads that answer requests; 0 is one per core", Kind::kWhole, 0, 1024,
     set_member<&Config::threads>},
    {"learner_threads", "2", "Threads that learn from clicks", Kind::kWhole, 1, 1024,
     set_member<&Config::learner_threads>},
    {"max_connections", "10000", "Clients at once; where they run out, idle ones make room",
     Kind::kWhole, 1, 1e6, set_member<&Config::max_connections>},
    {"max_header_bytes", "16384", "Bytes of a request's header", Kind::kWhole, 1024, 65536,
     set_member<&Config::max_header_bytes>},
    {"max_handshakes", "512", "TLS handshakes at once; beyond it the oldest is given up",
     Kind::kWhole, 1, 1e6, set_member<&Config::max_handshakes>},
    {"max_wait_ms", "15", "How long a request may be expected to wait in a burst; more is refused",
     Kind::kWhole, 1, kDayMs, set_member<&Config::max_wait_ms>},
    {"max_body_memory", "268435456", "Bytes of bodies, and of long answers, under way",
     Kind::kWhole, 16 << 20, 1e12, set_member<&Config::max_body_memory>},
    {"max_waiting", "65536", "Clicks, about, that may wait for the log at once", Kind::kWhole, 1,
     1e9, set_member<&Config::max_waiting>},
    {"max_backlog", "100000", "Events of a collection that may wait to be learned", Kind::kWhole, 1,
     1e9, set_member<&Config::max_backlog>},
    {"address_rate", "0", "Requests per second of one address; 0 is no limit", Kind::kNumber, 0,
     1e9, set_member<&Config::address_rate>},
    {"address_burst", "1000", "Requests at once of one address", Kind::kNumber, 1, 1e9,
     set_member<&Config::address_burst>},
    {"collection_rate", "0", "Requests per second to one collection; 0 is no limit", Kind::kNumber,
     0, 1e9, set_member<&Config::collection_rate>},
    {"collection_burst", "10000", "Requests at once to one collection", Kind::kNumber, 1, 1e9,
     set_member<&Config::collection_burst>},
    {"key_rate", "0", "Requests per second of one key; 0 is no limit", Kind::kNumber, 0, 1e9,
     set_member<&Config::key_rate>},
    {"key_burst", "1000", "Requests at once of one key", Kind::kNumber, 1, 1e9,
     set_member<&Config::key_burst>},
    {"publishable_rate", "10", "Requests per second of one address with publishable keys",
     Kind::kNumber, 0, 1e9, set_member<&Config::publishable_rate>},
    {"publishable_burst", "50", "Requests at once of one address with publishable keys",
     Kind::kNumber, 1, 1e9, set_member<&Config::publishable_burst>},
    {"handshake_deadline_ms", "10000", "How long a TLS handshake may take", Kind::kWhole, 1, kDayMs,
     set_member<&Config::handshake_deadline_ms>},
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
    {"audit_bytes", "16777216", "Size at which audit.log becomes audit.log.1", Kind::kWhole, 4096,
     1e12, set_member<&Config::audit_bytes>},
    {"snapshot_events", "200000", "A snapshot after so many events of a collection", Kind::kWhole,
     1, 1e12, set_member<&Config::snapshot_events>},
    {"snapshot_seconds", "300", "A snapshot so long after the first event since the last",
     Kind::kWhole, 1, 1e9, set_member<&Config::snapshot_seconds>},
    {"insight_share", "0.1",
     "Share of one core that looking for the best policy in hindsight may take; 0 is none",
     Kind::kNumber, 0, 1, set_member<&Config::insight_share>},
    {"accept_lost_end", "false", "Open a log that lost its end; what is missing is gone",
     Kind::kSwitch, 0, 0, set_member<&Config::accept_lost_end>},
    {"node", "0", "Number of this node, in its decision ids", Kind::kWhole, 0, 65535,
     set_member<&Config::node>},
    {"config", "", "TOML file with settings", Kind::kText, 0, 0, nullptr},
}};

}  // namespace

std::span<const Setting> settings_and_file() { return kSettings; }

std::span<const Setting> settings() { return std::span(kSettings).first(kSettings.size() - 1); }

}  // namespace hindsight
