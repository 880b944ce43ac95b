// Whose request it is, behind proxies: X-Forwarded-For (and Forwarded, RFC 7239) are believed only
// as far as proxies wrote them that are listed.
//
// The list of addresses is read from its end, where the nearest proxy wrote: as long as an address
// is a listed proxy's, the one before it counts. Whatever a client put in front stays unread. Where
// both fields stand and do not agree, a client has written one of them, and the nearest proxy's own
// address counts.
//
// Thread-safety: constant after it was made.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

class TrustedProxies {
 public:
  TrustedProxies() = default;
  /// Addresses and networks: "10.0.0.7", "10.0.0.0/8", "2001:db8::/32". FAILS: kInvalidArgument
  static Result<TrustedProxies> parse(const std::vector<std::string>& texts);

  bool empty() const { return networks_.empty(); }
  bool contains(std::string_view address) const;

  /// RETURNS: the address that a request stems from. `peer`: where its connection comes from.
  std::string client_address(std::string_view peer, std::string_view forwarded_for,
                             std::string_view forwarded) const;

 private:
  using Address = std::array<std::uint8_t, 16>;  // IPv4 as ::ffff:a.b.c.d
  struct Network {
    Address address = {};
    int bits = 0;
  };

  std::string walk(std::string_view peer, const std::vector<std::string>& hops) const;

  std::vector<Network> networks_;
};

}  // namespace hindsight
