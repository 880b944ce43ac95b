// Keys in use: the ring that a running server asks, and the changes that a person makes beside it.
//
//   DIR/keys.toml    the records (key_file.h), mode 0600, always replaced as a whole
//   DIR/keys.lock    locked while keys.toml is changed
//   DIR/admin.key    the key of the first start, mode 0600; may be moved away or deleted
//
// A change of the file is seen by a running server within about a second. A file that cannot be
// read any more opens nothing and closes nothing: the last good records stay in force, and warn
// says so.
//
// Thread-safety: KeyRing may be used from any thread; the functions lock across processes.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"
#include "src/server/key_file.h"
#include "src/server/principal.h"

namespace hindsight {

inline constexpr const char* kKeyFile = "keys.toml";
inline constexpr const char* kAdminKeyFile = "admin.key";

struct KeyRingOptions {
  std::filesystem::path folder;
  std::function<std::int64_t()> clock;  // milliseconds; how often the file is looked at
  std::int64_t look_every_ms = 1000;
  std::function<void(std::string_view)> warn = {};  // something an operator should know
  /// Called with what a change of the file did: "added ID; revoked ID".
  std::function<void(std::string_view)> changed = {};
};

class KeyRing final : public KeyLookup {
 public:
  /// FAILS: kNotFound, kIo, and what parse_keys can say
  static Result<std::unique_ptr<KeyRing>> open(KeyRingOptions options);
  ~KeyRing() override;

  std::shared_ptr<const Principal> find(std::string_view key) const override;
  bool knows_origin(std::string_view origin) const override;

 private:
  class Impl;
  explicit KeyRing(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// RETURNS: the records, oldest first. FAILS: kNotFound (no key file), kIo, what parse_keys can say
Result<std::vector<KeyRecord>> list_keys(const std::filesystem::path& folder);

/// Makes a key, durably. RETURNS: the only copy of it. FAILS: like list_keys (but a folder without
/// a key file gets one), kInvalidArgument, kTooLarge
Result<NewKey> add_key(const std::filesystem::path& folder, const KeyWish& wish,
                       std::int64_t now_ms);

/// Revokes a key for ever. RETURNS: false when it was revoked before. FAILS: like list_keys,
/// kNotFound (no such id)
Result<bool> revoke_key(const std::filesystem::path& folder, std::string_view id,
                        std::int64_t now_ms);

/// The first start: where there is no key file, makes an admin key and writes it to admin.key.
/// RETURNS: the key, or none when there was a key file. FAILS: kIo
Result<std::optional<NewKey>> ensure_admin_key(const std::filesystem::path& folder,
                                               std::int64_t now_ms);

}  // namespace hindsight
