// The server's settings: one table of them, and three places that they come from.
//
//   flags  >  environment  >  file  >  defaults
//
// A setting `header_deadline_ms` is a name at the top of the TOML file, the variable
// HINDSIGHT_HEADER_DEADLINE_MS, and the flag --header-deadline-ms. docs/operations.md lists them
// all; a test holds the list against the table.
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hindsight/result.h"
#include "src/server/log.h"

namespace hindsight {

struct ServerConfig {
  std::string data = "hindsight-data";
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  bool allow_remote = false;
  std::string tls_cert;  // both or none
  std::string tls_key;
  std::vector<std::string> trusted_proxies = {};
  int threads = 0;  // 0: one per core
  int learner_threads = 2;

  int max_connections = 10'000;
  std::size_t max_header_bytes = std::size_t{16} << 10;
  int max_handshakes = 512;
  std::int64_t max_wait_ms = 15;
  std::int64_t max_body_memory = std::int64_t{256} << 20;
  std::int64_t max_waiting = 65'536;
  std::uint64_t max_backlog = 100'000;
  double address_rate = 0.0;  // requests per second; 0: no limit
  double address_burst = 1'000.0;
  double collection_rate = 0.0;
  double collection_burst = 10'000.0;
  double key_rate = 0.0;
  double key_burst = 1'000.0;
  double publishable_rate = 10.0;
  double publishable_burst = 50.0;

  std::int64_t handshake_deadline_ms = 10'000;
  std::int64_t header_deadline_ms = 10'000;
  std::int64_t body_deadline_ms = 30'000;
  std::int64_t idle_deadline_ms = 75'000;
  std::int64_t write_deadline_ms = 30'000;
  std::int64_t drain_deadline_ms = 10'000;

  std::vector<std::string> cors_origins = {};
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kLogfmt;

  std::int64_t audit_bytes = std::int64_t{16} << 20;
  std::uint64_t snapshot_events = 200'000;
  std::int64_t snapshot_seconds = 300;
  double insight_share = 0.1;  // of one core; 0: never
  bool accept_lost_end = false;
  std::uint16_t node = 0;
};

/// A value of each kind, in the order of SettingKind.
using SettingValue =
    std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;

enum class SettingKind : std::uint8_t { kText, kWhole, kNumber, kSwitch, kList };

/// One row of the table.
struct Setting {
  std::string_view name;
  std::string_view fallback;  // the default, as text
  std::string_view help;
  SettingKind kind = SettingKind::kText;
  double least = 0.0;  // for numbers
  double most = 0.0;
  /// FAILS: kInvalidArgument, without a field
  Result<void> (*set)(ServerConfig& config, const SettingValue& value) = nullptr;
};

std::span<const Setting> settings();
/// RETURNS: with a last row that names the file itself; it is no setting inside it.
std::span<const Setting> settings_and_file();

/// RETURNS: "--header-deadline-ms" and "HINDSIGHT_HEADER_DEADLINE_MS".
std::string flag_name(const Setting& setting);
std::string variable_name(const Setting& setting);

/// Sets one setting from a word of the command line or the environment; lists are separated by
/// commas. FAILS: kInvalidArgument (the field is the setting's name)
Result<void> set_from_text(ServerConfig& config, const Setting& setting, std::string_view text);

/// RETURNS: `base`, changed by what a TOML text says. FAILS: kParse, kInvalidArgument (an unknown
/// name comes with the nearest known one)
Result<ServerConfig> parse_config(std::string_view text, ServerConfig base = {});

/// Sets what HINDSIGHT_… variables say. A variable that is no setting but nearly is one is taken
/// for a slip. FAILS: kInvalidArgument (the field is the variable)
using Environment = std::vector<std::pair<std::string, std::string>>;
Result<void> apply_environment(ServerConfig& config, const Environment& environment);

/// What no setting can say alone. FAILS: kInvalidArgument (an address that others can reach,
/// without TLS or allow_remote; a certificate without a key)
Result<void> check_config(const ServerConfig& config);

}  // namespace hindsight
