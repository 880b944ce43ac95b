#include "src/server/key_file.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <set>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/server/toml_table.h"

namespace hindsight {
namespace {

constexpr std::string_view kPrefix = "hs_";
constexpr std::size_t kIdBytes = 6;
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kKeyChars = kPrefix.size() + 2 * kIdBytes + 1 + 2 * kSecretBytes;
constexpr std::string_view kHashKind = "sha256:";
constexpr std::string_view kPublishable = "publishable";
constexpr std::int64_t kVersion = 2;
constexpr std::int64_t kFirstWithChecksum = 2;
constexpr std::string_view kChecksumLine = "\nchecksum = \"";
constexpr std::size_t kMaxKeys = 10'000;
constexpr std::size_t kMaxListEntries = 1'000;
constexpr std::size_t kMaxOriginBytes = 256;
constexpr std::size_t kMaxCollectionBytes = 64;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_hex(c); });
}

std::uint8_t hex_value(char c) {
  return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10);
}

template <class Bytes>
std::string to_hex(const Bytes& bytes) {
  std::string out;
  for (const std::uint8_t byte : bytes) {
    fmt::format_to(std::back_inserter(out), "{:02x}", byte);
  }
  return out;
}

std::optional<KeyHash> parse_hash(std::string_view text) {
  KeyHash hash;
  if (!text.starts_with(kHashKind)) {
    return std::nullopt;
  }
  text.remove_prefix(kHashKind.size());
  if (text.size() != 2 * hash.size() || !is_hex(text)) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < hash.size(); ++i) {
    hash[i] = static_cast<std::uint8_t>(hex_value(text[2 * i]) * 16 + hex_value(text[2 * i + 1]));
  }
  return hash;
}

bool is_collection_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxCollectionBytes &&
         std::all_of(name.begin(), name.end(), allowed);
}

/// The form that browsers send: scheme, host in lower case, perhaps a port; no path.
bool is_origin(std::string_view origin) {
  if (origin.size() > kMaxOriginBytes) {
    return false;
  }
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (origin.starts_with(scheme)) {
      origin.remove_prefix(scheme.size());
      const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
               c == ':' || c == '[' || c == ']';
      };
      return !origin.empty() && std::all_of(origin.begin(), origin.end(), allowed);
    }
  }
  return false;
}

/// Of all lines but the checksum's own.
std::string checksum_of(std::string_view text) {
  const std::size_t before = text.find(kChecksumLine);
  std::string others(text.substr(0, before));
  if (before != std::string_view::npos) {
    const std::size_t end = text.find('\n', before + 1);
    others += end == std::string_view::npos ? "" : text.substr(end);
  }
  return std::string(kHashKind) + to_hex(hash_key(others));
}

Result<void> check_checksum(const TomlTable& root, std::int64_t version, std::string_view text) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::optional<std::string> checksum, root.string("checksum"));
  const bool wrong = checksum ? *checksum != checksum_of(text) : version >= kFirstWithChecksum;
  if (wrong && !planted(Fault::kSkipKeyChecksum)) {
    return Error{ErrorCode::kCorrupt,
                 "the checksum does not fit: the file is damaged, or was changed by something else "
                 "than `hindsight key`",
                 "checksum"};
  }
  return {};
}

Result<KeyRecord> parse_key(const TomlTable& table) {
  HINDSIGHT_RETURN_IF_ERROR(table.check_names(
      {"id", "role", "hash", "collections", "origins", "created_ms", "revoked_ms"}));
  HINDSIGHT_ASSIGN_OR_RETURN(const std::string id, table.required_string("id"));
  if (id.size() != 2 * kIdBytes || !is_hex(id)) {
    return Error{ErrorCode::kInvalidArgument, "an id is 12 hexadecimal digits", table.field("id")};
  }
  KeyWish wish;
  HINDSIGHT_ASSIGN_OR_RETURN(wish.role, table.required_string("role"));
  HINDSIGHT_ASSIGN_OR_RETURN(auto collections, table.strings("collections", kMaxListEntries));
  HINDSIGHT_ASSIGN_OR_RETURN(auto origins, table.strings("origins", kMaxListEntries));
  wish.collections = std::move(collections).value_or(std::vector<std::string>());
  wish.origins = std::move(origins).value_or(std::vector<std::string>());
  Result<Principal> principal = check_wish(wish);
  if (!principal.ok()) {
    Error error = principal.error();
    error.field = table.field(error.field);
    return error;
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const std::string hash_text, table.required_string("hash"));
  const std::optional<KeyHash> hash = parse_hash(hash_text);
  if (!hash) {
    return Error{ErrorCode::kInvalidArgument, "a hash is sha256: and 64 hexadecimal digits",
                 table.field("hash")};
  }
  constexpr std::int64_t kLast = std::int64_t{1} << 53;
  HINDSIGHT_ASSIGN_OR_RETURN(const auto created, table.integer("created_ms", 0, kLast));
  HINDSIGHT_ASSIGN_OR_RETURN(const auto revoked, table.integer("revoked_ms", 0, kLast));
  KeyRecord record{*std::move(principal), *hash, created.value_or(0), revoked};
  record.principal.id = id;
  return record;
}

std::string quoted_list(const std::vector<std::string>& words) {
  // Names and origins that passed check_wish hold nothing that would need an escape.
  std::string out = "[";
  for (const std::string& word : words) {
    out += (out.size() > 1 ? ", \"" : "\"") + word + "\"";
  }
  return out + "]";
}

}  // namespace

std::string_view role_word(const Principal& principal) {
  return principal.publishable ? kPublishable : role_name(principal.role);
}

Result<Principal> check_wish(const KeyWish& wish) {
  Principal principal;
  if (wish.role == kPublishable) {
    principal.role = Role::kClick;
    principal.publishable = true;
    if (wish.origins.empty()) {
      return Error{ErrorCode::kInvalidArgument,
                   "a publishable key needs the origins that it may be used from, for example "
                   "https://shop.example",
                   "origins"};
    }
  } else if (const std::optional<Role> role = parse_role(wish.role)) {
    principal.role = *role;
    if (!wish.origins.empty()) {
      return Error{ErrorCode::kInvalidArgument, "only publishable keys are bound to origins",
                   "origins"};
    }
  } else {
    return Error{ErrorCode::kInvalidArgument,
                 "no such role; choose admin, items, rank, click, read or publishable", "role"};
  }
  for (const std::string& name : wish.collections) {
    if (!is_collection_name(name)) {
      return Error{ErrorCode::kInvalidArgument,
                   "a collection's name is 1 to 64 of a-z, 0-9, _ and -", "collections"};
    }
  }
  for (const std::string& origin : wish.origins) {
    if (!is_origin(origin)) {
      return Error{ErrorCode::kInvalidArgument,
                   "an origin is written as browsers send it: https://shop.example or "
                   "http://localhost:3000, in lower case, without a path",
                   "origins"};
    }
  }
  principal.collections = wish.collections;
  principal.origins = wish.origins;
  return principal;
}

Result<std::vector<KeyRecord>> parse_keys(std::string_view text) {
  HINDSIGHT_ASSIGN_OR_RETURN(const TomlDocument document, TomlDocument::parse(text));
  const TomlTable root = document.root();
  HINDSIGHT_RETURN_IF_ERROR(root.check_names({"version", "checksum", "key"}));
  HINDSIGHT_ASSIGN_OR_RETURN(const auto version, root.integer("version", 1, 1'000'000));
  if (!version) {
    return Error{ErrorCode::kParse, "the file does not say its version", "version"};
  }
  if (*version > kVersion) {
    return Error{ErrorCode::kNewerVersion, "the key file was written by a newer program",
                 "version"};
  }
  HINDSIGHT_RETURN_IF_ERROR(check_checksum(root, *version, text));
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<TomlTable> tables, root.tables("key", kMaxKeys));
  std::vector<KeyRecord> records;
  std::set<std::string, std::less<>> ids;
  for (const TomlTable& table : tables) {
    HINDSIGHT_ASSIGN_OR_RETURN(KeyRecord record, parse_key(table));
    if (!ids.insert(record.principal.id).second) {
      return Error{ErrorCode::kInvalidArgument, "two keys have this id", table.field("id")};
    }
    records.push_back(std::move(record));
  }
  return records;
}

std::string format_keys(const std::vector<KeyRecord>& records) {
  const std::string head = fmt::format(
      "# The keys of this server, as hashes. Change it with `hindsight key add|revoke`.\n"
      "version = {}",
      kVersion);
  std::string tables = "\n";
  for (const KeyRecord& record : records) {
    const Principal& who = record.principal;
    tables += fmt::format("\n[[key]]\nid = \"{}\"\nrole = \"{}\"\nhash = \"{}{}\"\n", who.id,
                          role_word(who), kHashKind, to_hex(record.hash));
    if (!who.collections.empty()) {
      tables += "collections = " + quoted_list(who.collections) + "\n";
    }
    if (!who.origins.empty()) {
      tables += "origins = " + quoted_list(who.origins) + "\n";
    }
    tables += fmt::format("created_ms = {}\n", record.created_ms);
    if (record.revoked_ms) {
      tables += fmt::format("revoked_ms = {}\n", *record.revoked_ms);
    }
  }
  return fmt::format("{}{}{}\"{}", head, kChecksumLine, checksum_of(head + tables), tables);
}

Result<NewKey> draw_key() {
  std::array<std::uint8_t, kIdBytes> id;
  std::array<std::uint8_t, kSecretBytes> secret;
  if (RAND_bytes(id.data(), static_cast<int>(id.size())) != 1 ||
      RAND_priv_bytes(secret.data(), static_cast<int>(secret.size())) != 1) {
    return Error{ErrorCode::kIo, "the system gives no random numbers; no key was made", ""};
  }
  NewKey key{to_hex(id), ""};
  key.text = std::string(kPrefix) + key.id + "_" + to_hex(secret);
  OPENSSL_cleanse(secret.data(), secret.size());
  return key;
}

std::string_view id_of_key(std::string_view key) {
  if (key.size() != kKeyChars || !key.starts_with(kPrefix)) {
    return {};
  }
  const std::string_view id = key.substr(kPrefix.size(), 2 * kIdBytes);
  return is_hex(id) && key[kPrefix.size() + id.size()] == '_' ? id : std::string_view();
}

KeyHash hash_key(std::string_view key) {
  // Looking the algorithm up costs several times what hashing a key does; every request hashes one.
  static const EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  KeyHash hash;
  HINDSIGHT_CHECK(EVP_Digest(key.data(), key.size(), hash.data(), nullptr, kSha256, nullptr) == 1);
  return hash;
}

bool same_hash(const KeyHash& a, const KeyHash& b) {
  if (planted(Fault::kCompareEarlyOut)) {
    std::size_t i = 0;
    while (i < a.size() && a[i] == b[i]) {
      ++i;
    }
    return i == a.size();
  }
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hindsight
