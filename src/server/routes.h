// The one table of routes: what can be asked, by whom, and who answers.
//
// Matching, access checks, body limits, metrics, the matrix of tests and the check of
// docs/openapi.yaml all read this table; a new call is a new row and a handler (handlers.h).
//
// Thread-safety: the table is constant.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/server/principal.h"

namespace hindsight {

struct ApiCall;

/// Roles that may use a route. Admins may use every one.
struct RoleSet {
  std::uint8_t bits = 0;

  constexpr RoleSet with(Role role) const {
    return {static_cast<std::uint8_t>(bits | (1U << static_cast<unsigned>(role)))};
  }
  constexpr bool has(Role role) const {
    return role == Role::kAdmin || (bits & (1U << static_cast<unsigned>(role))) != 0;
  }
};

enum class Access : std::uint8_t {
  kPublic,       // no key
  kKey,          // a key of one of the roles
  kPublishable,  // likewise, and publishable keys
};

struct Route {
  std::string_view method;
  std::string_view pattern;  // "/v1/collections/{c}/items/{id}"
  Access access = Access::kKey;
  RoleSet roles = {};
  bool scoped = false;         // the path names a collection
  std::size_t body_limit = 0;  // bytes
  void (*handler)(ApiCall&) = nullptr;
};

inline constexpr std::size_t kBodyLimit = std::size_t{1} << 20;
inline constexpr std::size_t kRankBodyLimit = std::size_t{8} << 20;
/// Of calls that need no body; it is read and not looked at.
inline constexpr std::size_t kIdleBodyLimit = std::size_t{4} << 10;

std::span<const Route> route_table();

struct RouteMatch {
  const Route* route = nullptr;  // none: no such path, or no such method on it
  bool known_path = false;
  bool broken_escape = false;  // a known path, but its percent-encoding cannot be undone
  std::string collection;      // decoded
  std::string id;              // decoded: of an item, a decision or a user
};

/// HEAD is answered wherever GET is, with the same body; the HTTP server does not send it.
RouteMatch match_route(std::string_view method, std::string_view path);

/// RETURNS: "GET, HEAD, DELETE"; empty for an unknown path.
std::string allowed_methods(std::string_view path);

/// RETURNS: the place of a row in the table.
std::size_t route_index(const Route& route);

}  // namespace hindsight
