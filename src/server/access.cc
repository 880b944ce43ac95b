#include "src/server/access.h"

#include <algorithm>
#include <string>

#include "src/core/planted.h"

namespace hindsight {
namespace {

constexpr std::string_view kScheme = "bearer ";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains(const std::vector<std::string>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Result<void> check_publishable(const Principal& principal, const Route& route,
                               std::string_view origin) {
  if (route.access != Access::kPublishable) {
    return Error{ErrorCode::kForbidden, "a publishable key may report clicks and nothing else", {}};
  }
  if (!contains(principal.origins, origin)) {
    return Error{ErrorCode::kForbidden, "a publishable key works only from its own origins", {}};
  }
  return {};
}

std::string role_words(RoleSet roles) {
  std::string words = "admin";
  for (const Role role : {Role::kItems, Role::kRank, Role::kClick, Role::kRead}) {
    if (roles.has(role)) {
      words += " or " + std::string(role_name(role));
    }
  }
  return words;
}

}  // namespace

std::optional<std::string_view> bearer_key(std::string_view authorization) {
  if (authorization.size() <= kScheme.size() ||
      !std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                  [](char wanted, char c) { return wanted == lower(c); })) {
    return std::nullopt;
  }
  return authorization.substr(kScheme.size());
}

bool in_scope(const Principal& principal, std::string_view collection) {
  return principal.collections.empty() || contains(principal.collections, collection) ||
         planted(Fault::kSkipScope);
}

Result<void> authorize(const Principal& principal, const Route& route, std::string_view collection,
                       std::string_view origin) {
  if (principal.publishable) {
    if (auto checked = check_publishable(principal, route, origin); !checked.ok()) {
      return checked;
    }
  } else if (!route.roles.has(principal.role) && !planted(Fault::kSkipRole)) {
    return Error{ErrorCode::kForbidden,
                 "this needs a key of role " + role_words(route.roles) + "; the key's role is " +
                     std::string(role_name(principal.role)),
                 {}};
  }
  if (route.scoped && !in_scope(principal, collection)) {
    return no_such_collection();
  }
  return {};
}

Error no_such_collection() {
  return {ErrorCode::kNotFound, "there is no such collection, or none that the key may use",
          "collection"};
}

}  // namespace hindsight
