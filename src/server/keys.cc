#include "src/server/keys.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/server/file_stamp.h"
#include "src/store/file_sync.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

fs::path key_path(const fs::path& folder) { return folder / kKeyFile; }

Result<std::vector<KeyRecord>> read_records(const fs::path& folder) {
  const fs::path path = key_path(folder);
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(path));
  Result<std::vector<KeyRecord>> records =
      parse_keys({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!records.ok()) {
    Error error = records.error();
    error.message = "the key file " + path.string() + " cannot be used: " + to_string(error) +
                    "; put a good copy in its place";
    error.field.clear();
    return error;
  }
  return records;
}

/// Held while the file is changed, so that two commands at once lose nothing.
class FolderLock {
 public:
  static Result<FolderLock> take(const fs::path& folder) {
    const fs::path path = folder / "keys.lock";
    FolderLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    int locked = -1;
    if (lock.fd_ >= 0) {
      give_to_owner_of_folder(lock.fd_, path);
    }
    while (lock.fd_ >= 0 && (locked = ::flock(lock.fd_, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (locked != 0) {
      return Error{ErrorCode::kIo, "cannot lock " + path.string() + ": " + std::strerror(errno),
                   ""};
    }
    return lock;
  }
  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_;
};

Result<void> write_text(const fs::path& path, std::string_view text) {
  return replace_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

/// REQUIRES: the folder is locked
Result<NewKey> append_key(const fs::path& folder, std::vector<KeyRecord> records,
                          Principal principal, std::int64_t now_ms) {
  HINDSIGHT_ASSIGN_OR_RETURN(NewKey key, draw_key());
  principal.id = key.id;
  records.push_back({std::move(principal), hash_key(key.text), now_ms, std::nullopt});
  const std::string text = format_keys(records);
  // What could not be read again must not be written: too many keys, or the same id twice.
  HINDSIGHT_RETURN_IF_ERROR(parse_keys(text));
  HINDSIGHT_RETURN_IF_ERROR(write_text(key_path(folder), text));
  return key;
}

}  // namespace

class KeyRing::Impl {
 public:
  explicit Impl(KeyRingOptions options)
      : options_(std::move(options)), timer_(options_.look_every_ms, options_.clock()) {}

  /// Reads the file. REQUIRES: one caller at a time
  Result<void> load() {
    // Before reading: a change while it is read is then seen at the next look. What could not be
    // read is not seen: the next look tries again.
    const FileStamp stamp = stamp_of(key_path(options_.folder));
    seen_.reset();
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<KeyRecord> records, read_records(options_.folder));
    auto table = std::make_shared<Table>();
    for (const KeyRecord& record : records) {
      if (!record.revoked_ms || planted(Fault::kAcceptRevokedKey)) {
        table->keys.emplace(record.principal.id,
                            Entry{record.hash, std::make_shared<Principal>(record.principal)});
        table->origins.insert(record.principal.origins.begin(), record.principal.origins.end());
      }
    }
    const std::lock_guard lock(table_mutex_);
    table_ = std::move(table);
    seen_ = stamp;
    return {};
  }

  std::shared_ptr<const Principal> find(std::string_view key) {
    look_again();
    const std::string_view id = id_of_key(key);
    if (id.empty()) {
      return nullptr;
    }
    const std::shared_ptr<const Table> table = current();
    const auto found = table->keys.find(std::string(id));
    const bool known = found != table->keys.end();
    // An unknown id is compared with nothing's hash, so that it takes as long as a known one.
    static constexpr KeyHash kNothing = {};
    const bool same = same_hash(hash_key(key), known ? found->second.hash : kNothing);
    return same && known ? found->second.principal : nullptr;
  }

  bool knows_origin(std::string_view origin) {
    look_again();
    return current()->origins.contains(origin);
  }

 private:
  struct Entry {
    KeyHash hash;
    std::shared_ptr<const Principal> principal;
  };
  struct Table {
    std::unordered_map<std::string, Entry> keys;
    std::set<std::string, std::less<>> origins;  // of all publishable keys
  };

  /// "added ID; revoked ID", without an order.
  static std::string difference(const Table& before, const Table& after) {
    std::string words;
    const auto add = [&words](const char* verb, const Table& in, const Table& not_in) {
      for (const auto& [id, entry] : in.keys) {
        if (!not_in.keys.contains(id)) {
          words.append(words.empty() ? "" : "; ").append(verb).append(id);
        }
      }
    };
    add("added ", after, before);
    add("revoked ", before, after);
    return words;
  }

  std::shared_ptr<const Table> current() const {
    const std::lock_guard lock(table_mutex_);
    return table_;
  }

  /// Looks at the file from time to time; whoever comes first does it, the others go on.
  void look_again() {
    if (!timer_.due(options_.clock())) {
      return;
    }
    const std::unique_lock lock(load_mutex_, std::try_to_lock);
    if (!lock.owns_lock() || stamp_of(key_path(options_.folder)) == seen_) {
      return;
    }
    const std::shared_ptr<const Table> before = current();
    const Result<void> loaded = load();
    if (loaded.ok() && options_.changed) {
      options_.changed(difference(*before, *current()));
    }
    report_.tell(loaded, "the key file has changed and was read again",
                 "the keys read before it stay in force", options_.warn);
  }

  const KeyRingOptions options_;
  LookTimer timer_;
  std::mutex load_mutex_;
  std::optional<FileStamp> seen_;  // of what was read last
  RereadReport report_;
  mutable std::mutex table_mutex_;
  std::shared_ptr<const Table> table_;
};

KeyRing::KeyRing(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KeyRing::~KeyRing() = default;

Result<std::unique_ptr<KeyRing>> KeyRing::open(KeyRingOptions options) {
  HINDSIGHT_CHECK(options.clock != nullptr);
  auto impl = std::make_unique<Impl>(std::move(options));
  HINDSIGHT_RETURN_IF_ERROR(impl->load());
  return std::unique_ptr<KeyRing>(new KeyRing(std::move(impl)));
}

std::shared_ptr<const Principal> KeyRing::find(std::string_view key) const {
  return impl_->find(key);
}

bool KeyRing::knows_origin(std::string_view origin) const { return impl_->knows_origin(origin); }

Result<std::vector<KeyRecord>> list_keys(const fs::path& folder) { return read_records(folder); }

Result<NewKey> add_key(const fs::path& folder, const KeyWish& wish, std::int64_t now_ms) {
  HINDSIGHT_ASSIGN_OR_RETURN(Principal principal, check_wish(wish));
  HINDSIGHT_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::take(folder));
  Result<std::vector<KeyRecord>> records = read_records(folder);
  if (!records.ok() && records.error().code != ErrorCode::kNotFound) {
    return records.error();
  }
  std::error_code failed;
  if (!records.ok() && fs::exists(folder / "hindsight.db", failed)) {
    // A file with this key alone would shut out all others, without a word.
    return Error{ErrorCode::kNotFound,
                 "keys.toml is missing, and with it every key from before; restore it, or start "
                 "the server, which makes a new admin key",
                 "keys.toml"};
  }
  return append_key(folder, records.ok() ? *std::move(records) : std::vector<KeyRecord>(),
                    std::move(principal), now_ms);
}

Result<bool> revoke_key(const fs::path& folder, std::string_view id, std::int64_t now_ms) {
  HINDSIGHT_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::take(folder));
  HINDSIGHT_ASSIGN_OR_RETURN(std::vector<KeyRecord> records, read_records(folder));
  const auto found = std::find_if(records.begin(), records.end(), [id](const KeyRecord& record) {
    return record.principal.id == id;
  });
  if (found == records.end()) {
    return Error{ErrorCode::kNotFound, "there is no key of this id; `hindsight key list` shows all",
                 "id"};
  }
  if (found->revoked_ms) {
    return false;
  }
  found->revoked_ms = now_ms;
  HINDSIGHT_RETURN_IF_ERROR(write_text(key_path(folder), format_keys(records)));
  return true;
}

Result<std::optional<NewKey>> ensure_admin_key(const fs::path& folder, std::int64_t now_ms) {
  HINDSIGHT_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::take(folder));
  std::error_code failed;
  if (fs::exists(key_path(folder), failed) || failed) {
    return std::optional<NewKey>();
  }
  HINDSIGHT_ASSIGN_OR_RETURN(NewKey key, draw_key());
  Principal principal;
  principal.id = key.id;
  principal.role = Role::kAdmin;
  // The key before its hash: a crash in between leaves no hash of a key that nobody has.
  HINDSIGHT_RETURN_IF_ERROR(write_text(folder / kAdminKeyFile, key.text + "\n"));
  HINDSIGHT_RETURN_IF_ERROR(
      write_text(key_path(folder),
                 format_keys({{std::move(principal), hash_key(key.text), now_ms, std::nullopt}})));
  return std::optional<NewKey>(std::move(key));
}

}  // namespace hindsight
