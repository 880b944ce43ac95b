// Db and Statement: SQLite connections and prepared statements that clean up after themselves and
// turn SQLite's codes into errors that name the file.
//
// Thread-safety: a connection and its statements belong to one thread at a time.

#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

/// How long a connection waits for a lock.
inline constexpr int kBusyMs = 10'000;

class Statement {
 public:
  Statement() = default;
  Statement(sqlite3_stmt* statement, const std::string* file)
      : statement_(statement), file_(file) {}

  /// Values of the parameters, counted from 1. Bytes and text must stay until reset().
  void bind(int index, std::uint64_t value);
  void bind(int index, std::span<const std::byte> bytes);
  void bind(int index, std::string_view text);

  /// RETURNS: true with a row, false at the end. FAILS: kCorrupt, kIo
  Result<bool> step();
  /// Runs to the end and is ready for the next values.
  Result<void> run();
  void reset();

  /// Columns of the row, counted from 0. Bytes are good until the next step() or reset().
  std::uint64_t number(int column) const;
  std::span<const std::byte> bytes(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::string* file_ = nullptr;  // of the connection
};

/// Resets a statement at the end of a scope, so that no read transaction stays open behind it.
class ResetAtExit {
 public:
  explicit ResetAtExit(Statement& statement) : statement_(statement) {}
  ~ResetAtExit() { statement_.reset(); }
  ResetAtExit(const ResetAtExit&) = delete;
  ResetAtExit& operator=(const ResetAtExit&) = delete;

 private:
  Statement& statement_;
};

class Db {
 public:
  Db() = default;

  /// Opens a file that is there. `vfs`: SQLite's name of the file system, empty for its own.
  static Result<Db> open(const std::filesystem::path& file, const std::string& vfs);

  Result<Statement> prepare(std::string_view sql) const;
  Result<void> exec(const std::string& sql) const;
  /// RETURNS: the one number that a query gives.
  Result<std::uint64_t> number(std::string_view sql) const;

  /// FAILS: kIo (the file, or its write-ahead log, is no longer where it was opened, so that what
  /// is written is lost). REQUIRES: a transaction has written, in WAL mode
  Result<void> check_in_place();

  sqlite3* get() const { return db_.get(); }
  const std::string& file() const { return *file_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  std::unique_ptr<std::string> file_;  // where statements find it after a move
  std::unique_ptr<sqlite3, Close> db_;
  std::uint64_t wal_inode_ = 0;  // 0: not looked at yet
};

/// What a code of SQLite means: kCorrupt for bytes that are not what they should be, else kIo.
Error sqlite_error(int code, const std::string& file, std::string_view detail);

}  // namespace hindsight
