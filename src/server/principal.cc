#include "src/server/principal.h"

#include <array>
#include <utility>

#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr std::array<std::pair<Role, std::string_view>, 5> kRoles = {{
    {Role::kAdmin, "admin"},
    {Role::kItems, "items"},
    {Role::kRank, "rank"},
    {Role::kClick, "click"},
    {Role::kRead, "read"},
}};

}  // namespace

std::string_view role_name(Role role) {
  for (const auto& [value, name] : kRoles) {
    if (value == role) {
      return name;
    }
  }
  HINDSIGHT_CHECK(false && "role without a name");
  std::abort();
}

std::optional<Role> parse_role(std::string_view name) {
  for (const auto& [value, text] : kRoles) {
    if (text == name) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace hindsight
