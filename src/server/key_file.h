// The key file: which keys there are, without the keys themselves.
//
// keys.toml holds one [[key]] table for each key ever made. A key is 256 random bits in hexadecimal
// behind its id, "hs_ID_SECRET"; the file knows only its SHA-256, which cannot be turned back, so a
// copy of the file opens no door. A line with the checksum of the other lines stands before the
// tables: a file that is cut between two lines would else be a good file in which a revoked key is
// not revoked. Files of version 1 have no such line; they are read, and the next change writes
// version 2.
//
// Thread-safety: pure functions.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"
#include "src/server/principal.h"

namespace hindsight {

/// SHA-256 of the whole key, prefix included.
using KeyHash = std::array<std::uint8_t, 32>;

struct KeyRecord {
  Principal principal;
  KeyHash hash = {};
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> revoked_ms = {};  // revoked keys stay in the file, as a record
};

/// What a new key may do.
struct KeyWish {
  std::string role;  // a word of parse_role, or "publishable": clicks from web pages of `origins`
  std::vector<std::string> collections = {};  // empty: all
  std::vector<std::string> origins = {};      // for publishable keys, and only for them
};

/// The word that stands for role and publishable in files and on the command line.
std::string_view role_word(const Principal& principal);

/// RETURNS: a principal without an id. FAILS: kInvalidArgument (unknown role, a name that no
/// collection can have, origins that no browser sends, origins where they have no effect)
Result<Principal> check_wish(const KeyWish& wish);

/// FAILS: kCorrupt (the checksum), kParse, kInvalidArgument (the field names the key),
/// kNewerVersion, kTooLarge
Result<std::vector<KeyRecord>> parse_keys(std::string_view text);

/// RETURNS: a text that parse_keys gives back the same records for.
std::string format_keys(const std::vector<KeyRecord>& records);

/// A key as its owner holds it. `text` is the only copy.
struct NewKey {
  std::string id;
  std::string text;
};
/// Draws a new key from the system's random numbers. FAILS: kIo (there are none)
Result<NewKey> draw_key();

/// RETURNS: the id inside a key; empty when the text does not have the form of one.
std::string_view id_of_key(std::string_view key);
KeyHash hash_key(std::string_view key);

/// RETURNS: whether two hashes are the same, in a time that does not depend on where they differ.
bool same_hash(const KeyHash& a, const KeyHash& b);

}  // namespace hindsight
