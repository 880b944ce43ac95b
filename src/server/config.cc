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

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message), ""}; }

bool is_loopback(const std::string& address) {
  in_addr narrow = {};
  in6_addr wide = {};
  if (inet_pton(AF_INET, address.c_str(), &narrow) == 1) {
    return (ntohl(narrow.s_addr) >> 24) == 127;
  }
  return inet_pton(AF_INET6, address.c_str(), &wide) == 1 && IN6_IS_ADDR_LOOPBACK(&wide);
}

using Kind = SettingKind;

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
  const std::span<const Setting> all = settings_and_file();
  names.reserve(all.size());
  for (const Setting& setting : all) {
    names.push_back(variable_name(setting));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  for (const auto& [name, text] : environment) {
    if (!name.starts_with(kVariablePrefix)) {
      continue;
    }
    const auto known = std::find(names.begin(), names.end(), name);
    if (known != names.end()) {
      const Setting& setting = all[static_cast<std::size_t>(known - names.begin())];
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
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "tls_cert and tls_key are used together or not at all",
                 config.tls_cert.empty() ? "tls_cert" : "tls_key"};
  }
  if (!config.allow_remote && config.tls_cert.empty() && !is_loopback(config.address)) {
    return Error{ErrorCode::kInvalidArgument,
                 "other machines can reach " + config.address +
                     ", and without tls_cert and tls_key this server speaks no TLS; put a proxy in "
                     "front of it, and say --allow-remote if you mean it",
                 "listen"};
  }
  return {};
}

}  // namespace hindsight
