// Who is asking: what a key stands for, and where keys are looked up.
//
// Thread-safety: plain values; a KeyLookup is called from several threads at once.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight {

enum class Role : std::uint8_t {
  kAdmin,  // everything, collections and identities included
  kItems,  // write and read items
  kRank,   // ask for orders
  kClick,  // report clicks
  kRead,   // look: collections, items, stats, stream, decisions, rankers, metrics
};

/// "admin", "items", "rank", "click", "read".
std::string_view role_name(Role role);
/// RETURNS: none for a word that is no role.
std::optional<Role> parse_role(std::string_view name);

/// What a key stands for. It holds no secret.
struct Principal {
  std::string id = {};  // names the key in logs and in `hindsight key list`
  Role role = Role::kRead;
  std::vector<std::string> collections = {};  // the only ones it may know of; empty: all of them
  bool publishable = false;  // may stand in a web page: clicks only, from `origins` only
  std::vector<std::string> origins = {};  // "https://shop.example", as browsers send them
};

class KeyLookup {
 public:
  virtual ~KeyLookup() = default;
  /// RETURNS: null for a key that is not known or was revoked. Takes as long for a wrong key as
  /// for a right one.
  virtual std::shared_ptr<const Principal> find(std::string_view key) const = 0;
  /// Whether some publishable key may be used from this origin. A browser asks before it sends the
  /// key (the preflight request).
  virtual bool knows_origin(std::string_view origin) const = 0;
};

}  // namespace hindsight
