// What SQLite alone commits: rows of some bytes in groups, WAL, synchronous=FULL.
//
//   sqlite_appends FILE GROUP BYTES SECONDS      prints rows per second

#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void run(sqlite3* db, const char* sql) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    std::fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: sqlite_appends FILE GROUP BYTES SECONDS\n");
    return 2;
  }
  const int group = std::atoi(argv[2]);
  const std::string row(static_cast<std::size_t>(std::atoi(argv[3])), 'x');
  const double seconds = std::atof(argv[4]);
  sqlite3* db = nullptr;
  if (sqlite3_open(argv[1], &db) != SQLITE_OK) {
    return 1;
  }
  run(db, "PRAGMA journal_mode=WAL");
  run(db, "PRAGMA synchronous=FULL");
  run(db, "CREATE TABLE rows (position INTEGER PRIMARY KEY, payload BLOB)");
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO rows (payload) VALUES (?)", -1, &insert, nullptr);
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double> taken{};
  long rows = 0;
  while (taken.count() < seconds) {
    run(db, "BEGIN");
    for (int i = 0; i < group; ++i, ++rows) {
      sqlite3_bind_blob(insert, 1, row.data(), static_cast<int>(row.size()), SQLITE_STATIC);
      sqlite3_step(insert);
      sqlite3_reset(insert);
    }
    run(db, "COMMIT");
    taken = std::chrono::steady_clock::now() - start;
  }
  std::printf("%.0f\n", static_cast<double>(rows) / taken.count());
  sqlite3_finalize(insert);
  sqlite3_close(db);
  return 0;
}
