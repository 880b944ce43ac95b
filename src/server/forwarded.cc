#include "src/server/forwarded.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace hindsight {
namespace {

using Bytes = std::array<std::uint8_t, 16>;
constexpr int kMappedBits = 96;  // of ::ffff:0:0/96, where IPv4 lives
constexpr std::size_t kMaxHops = 64;

/// RETURNS: none for what is no address. `narrow`: whether it is one of IPv4.
std::optional<Bytes> parse_address(std::string_view text, bool* narrow = nullptr) {
  const std::string word(text);
  Bytes bytes = {};
  in_addr four = {};
  if (inet_pton(AF_INET, word.c_str(), &four) == 1) {
    bytes[10] = bytes[11] = 0xFF;
    std::memcpy(&bytes[12], &four, sizeof(four));
    if (narrow != nullptr) {
      *narrow = true;
    }
    return bytes;
  }
  return inet_pton(AF_INET6, word.c_str(), bytes.data()) == 1 ? std::optional<Bytes>(bytes)
                                                              : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// "1.2.3.4", "1.2.3.4:80", "[::1]", "[::1]:80", "::1", as they stand in these fields. RETURNS: the
/// address as text; empty for anything else ("unknown", "_hidden").
std::string address_in(std::string_view text) {
  if (text.starts_with('[')) {
    text = text.substr(1, text.find(']') == std::string_view::npos ? 0 : text.find(']') - 1);
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    text = text.substr(0, text.find(':'));
  }
  const std::optional<Bytes> bytes = parse_address(text);
  if (!bytes) {
    return {};
  }
  std::array<char, INET6_ADDRSTRLEN> out = {};
  in6_addr wide = {};
  std::memcpy(&wide, bytes->data(), bytes->size());
  if (IN6_IS_ADDR_V4MAPPED(&wide)) {
    return inet_ntop(AF_INET, &(*bytes)[12], out.data(), out.size());
  }
  return inet_ntop(AF_INET6, bytes->data(), out.data(), out.size());
}

/// The last of a list's elements, at most kMaxHops, in their order.
std::vector<std::string_view> split(std::string_view list, char separator) {
  std::vector<std::string_view> parts;
  while (parts.size() < kMaxHops) {
    const std::size_t at = list.rfind(separator);
    parts.push_back(trimmed(at == std::string_view::npos ? list : list.substr(at + 1)));
    if (at == std::string_view::npos) {
      break;
    }
    list = list.substr(0, at);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string> hops_of_list(std::string_view forwarded_for) {
  std::vector<std::string> hops;
  for (const std::string_view part : split(forwarded_for, ',')) {
    hops.push_back(address_in(part));
  }
  return hops;
}

/// The value of for= in one element of Forwarded; empty when there is none.
std::string_view for_value(std::string_view element) {
  for (const std::string_view pair : split(element, ';')) {
    const std::size_t equals = pair.find('=');
    if (equals != 3 || !std::equal(pair.begin(), pair.begin() + 3, "for", [](char c, char wanted) {
          return (c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) == wanted;
        })) {
      continue;
    }
    std::string_view value = trimmed(pair.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return value;
  }
  return {};
}

/// Quoted values of other names may hold commas; such an element is no address, and the walk stops
/// at it.
std::vector<std::string> hops_of_forwarded(std::string_view forwarded) {
  std::vector<std::string> hops;
  for (const std::string_view element : split(forwarded, ',')) {
    hops.push_back(address_in(for_value(element)));
  }
  return hops;
}

bool same_network(const Bytes& a, const Bytes& b, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin())) {
    return false;
  }
  const int rest = bits % 8;
  return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

}  // namespace

Result<TrustedProxies> TrustedProxies::parse(const std::vector<std::string>& texts) {
  TrustedProxies proxies;
  for (const std::string& text : texts) {
    const Error unreadable{ErrorCode::kInvalidArgument,
                           "'" + text + "' is not an address or a network such as 10.0.0.0/8", ""};
    const std::size_t slash = text.find('/');
    bool narrow = false;
    const std::optional<Bytes> address =
        parse_address(std::string_view(text).substr(0, slash), &narrow);
    const int most = narrow ? 32 : 128;
    int bits = most;
    if (slash != std::string::npos) {
      const char* end = text.data() + text.size();
      const auto [stop, problem] = std::from_chars(text.data() + slash + 1, end, bits);
      if (problem != std::errc() || stop != end || bits < 0 || bits > most) {
        return unreadable;
      }
    }
    if (!address) {
      return unreadable;
    }
    proxies.networks_.push_back({*address, bits + (narrow ? kMappedBits : 0)});
  }
  return proxies;
}

bool TrustedProxies::contains(std::string_view address) const {
  const std::optional<Bytes> bytes = parse_address(address);
  return bytes && std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) {
           return same_network(*bytes, network.address, network.bits);
         });
}

std::string TrustedProxies::walk(std::string_view peer,
                                 const std::vector<std::string>& hops) const {
  std::string client(peer);
  for (auto hop = hops.rbegin(); hop != hops.rend() && contains(client); ++hop) {
    if (hop->empty()) {
      break;  // not to be read: the proxy that said so is all we know
    }
    client = *hop;
  }
  return client;
}

std::string TrustedProxies::client_address(std::string_view peer, std::string_view forwarded_for,
                                           std::string_view forwarded) const {
  if ((forwarded_for.empty() && forwarded.empty()) || !contains(peer)) {
    return std::string(peer);
  }
  if (forwarded.empty()) {
    return walk(peer, hops_of_list(forwarded_for));
  }
  std::string by_standard = walk(peer, hops_of_forwarded(forwarded));
  if (!forwarded_for.empty() && walk(peer, hops_of_list(forwarded_for)) != by_standard) {
    return std::string(peer);
  }
  return by_standard;
}

}  // namespace hindsight
