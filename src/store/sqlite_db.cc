#include "src/store/sqlite_db.h"

#include <sys/stat.h>

#include <cerrno>

#include "src/core/check.h"
#include "src/core/planted.h"

namespace hindsight {
namespace {

// How long to wait for a lock that a person's own tool holds.

}  // namespace

Error sqlite_error(int code, const std::string& file, std::string_view detail) {
  const int primary = code & 0xff;
  const bool damaged = primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB ||
                       primary == SQLITE_SCHEMA || primary == SQLITE_ERROR ||
                       primary == SQLITE_MISMATCH || primary == SQLITE_CONSTRAINT;
  std::string message = file + ": " + sqlite3_errstr(code);
  if (!detail.empty() && detail != sqlite3_errstr(code)) {
    message += " (" + std::string(detail) + ")";
  }
  return {damaged ? ErrorCode::kCorrupt : ErrorCode::kIo, std::move(message), ""};
}

void Statement::bind(int index, std::uint64_t value) {
  sqlite3_bind_int64(statement_.get(), index, static_cast<sqlite3_int64>(value));
}

void Statement::bind(int index, std::span<const std::byte> bytes) {
  // No address would mean NULL, not an empty blob.
  const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
  sqlite3_bind_blob64(statement_.get(), index, data, bytes.size(), SQLITE_STATIC);
}

void Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.empty() ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code == SQLITE_DONE) {
    return false;
  }
  return sqlite_error(code, *file_, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
}

Result<void> Statement::run() {
  for (;;) {
    Result<bool> row = step();
    if (!row.ok() || !*row) {
      reset();
      return row.ok() ? Result<void>() : Result<void>(row.error());
    }
  }
}

void Statement::reset() {
  // The code repeats the error of the last step, which was reported then.
  sqlite3_reset(statement_.get());
}

std::uint64_t Statement::number(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

std::span<const std::byte> Statement::bytes(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data == nullptr ? std::span<const std::byte>() : std::span(data, size);
}

std::string Statement::text(int column) const {
  const auto raw = bytes(column);
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Result<Db> Db::open(const std::filesystem::path& file, const std::string& vfs) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(
      file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
      vfs.empty() ? nullptr : vfs.c_str());
  Db db;
  db.file_ = std::make_unique<std::string>(file.string());
  db.db_.reset(raw);
  if (code != SQLITE_OK) {
    return sqlite_error(code, db.file(), "cannot open");
  }
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kBusyMs);
  // Checkpoints are made where their errors are seen, never on the side.
  sqlite3_wal_autocheckpoint(raw, 0);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  HINDSIGHT_RETURN_IF_ERROR(db.exec(planted(Fault::kSkipDatabaseSync)
                                        ? "PRAGMA synchronous = OFF"
                                        : "PRAGMA synchronous = FULL"));
  HINDSIGHT_RETURN_IF_ERROR(
      db.exec("PRAGMA secure_delete = ON; PRAGMA cell_size_check = ON;"
              "PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY"));
  return db;
}

Result<Statement> Db::prepare(std::string_view sql) const {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) {
    return sqlite_error(code, file(), sqlite3_errmsg(db_.get()));
  }
  return Statement(raw, file_.get());
}

Result<void> Db::exec(const std::string& sql) const {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return sqlite_error(code, file(), sqlite3_errmsg(db_.get()));
  }
  return {};
}

Result<std::uint64_t> Db::number(std::string_view sql) const {
  HINDSIGHT_ASSIGN_OR_RETURN(Statement statement, prepare(sql));
  HINDSIGHT_ASSIGN_OR_RETURN(const bool row, statement.step());
  return row ? statement.number(0) : 0;
}

Result<void> Db::check_in_place() {
  struct stat info = {};
  const auto look = [&info](const char* name) { return ::stat(name, &info) == 0 ? 0 : errno; };
  const auto is_gone = [](int problem) { return problem == ENOENT || problem == ENOTDIR; };
  const auto gone = [](const std::string& name) {
    return Error{ErrorCode::kIo,
                 name +
                     " was moved or deleted while it was in use; put it back, or restore a backup, "
                     "and start again",
                 ""};
  };
  int moved = 0;  // not 0 either where SQLite cannot tell
  const int code = sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  const int problem = look(file().c_str());
  if (code == SQLITE_OK && moved != 0 && (problem == 0 || is_gone(problem))) {
    return gone(file());
  }
  const char* const wal = sqlite3_filename_wal(sqlite3_db_filename(db_.get(), "main"));
  const int wal_problem = look(wal);
  if (wal_problem == 0 && wal_inode_ == 0) {
    wal_inode_ = info.st_ino;  // which lasts as long as the connection
  }
  const bool other = wal_problem == 0 && wal_inode_ != info.st_ino;
  return other || is_gone(wal_problem) ? Result<void>(gone(wal)) : Result<void>();
}

}  // namespace hindsight
