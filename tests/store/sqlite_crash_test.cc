// A process that is killed: whatever it acknowledged is there afterwards, once, and nobody gets its
// boot epoch again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

#include "src/store/sqlite_store.h"
#include "tests/store_support/memory_folder.h"
#include "tests/store_support/store_helpers.h"

namespace hindsight {
namespace {

constexpr int kProducers = 3;

/// What a process knows to be durable, in memory that outlives it.
struct Ledger {
  std::atomic<std::uint64_t> begun[kProducers];         // where this life of each began
  std::atomic<std::uint64_t> acknowledged[kProducers];  // up to where it was acknowledged
  std::atomic<std::uint64_t> sent[kProducers];
  std::atomic<std::uint64_t> epoch;
  std::atomic<std::uint64_t> logs;       // how many were made
  std::atomic<std::uint64_t> snapshots;  // how many were put
  std::atomic<bool> refused;             // the store could not be opened
};

class SharedLedger {
 public:
  SharedLedger()
      : ledger_(new (mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Ledger()) {}
  ~SharedLedger() { munmap(ledger_, sizeof(Ledger)); }
  SharedLedger(const SharedLedger&) = delete;
  SharedLedger& operator=(const SharedLedger&) = delete;
  Ledger* operator->() { return ledger_; }
  Ledger& operator*() { return *ledger_; }

 private:
  Ledger* ledger_;
};

struct Kill {
  std::string point;  // where, or empty for a moment
  int hits = 1;       // the how manyth time
  int after_us = 0;   // the moment
};

std::string entry_text(int producer, std::uint64_t number) {
  return numbered(numbered("", static_cast<std::uint64_t>(producer)) + ":", number);
}

/// Lives until it is killed.
[[noreturn]] void work(const std::filesystem::path& folder, const Kill& kill_at, Ledger& ledger) {
  SqliteStoreOptions options;
  options.folder = folder;
  std::atomic<int> hits = 0;
  options.at_point = [&](std::string_view point) {
    if (point == kill_at.point && ++hits == kill_at.hits) {
      ::kill(getpid(), SIGKILL);
    }
  };
  auto opened = open_sqlite_store(options);
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", to_string(opened.error()).c_str());
    ledger.refused = true;
    _exit(1);
  }
  Store& store = **opened;
  ledger.epoch = store.identity().boot_epoch;
  LogId log = 0;
  if (store.logs()->empty()) {
    if (const auto made = store.create_log("books"); made.ok()) {
      ledger.logs += 1;
    }
  }
  log = store.logs()->front().id;
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      for (;;) {
        const std::uint64_t first = ledger.sent[p];
        std::vector<std::string> texts;
        for (std::uint64_t i = first; i < first + 5; ++i) {
          texts.push_back(entry_text(p, i));
        }
        ledger.sent[p] = first + texts.size();
        if (append_and_wait(store, log, texts).ok()) {
          ledger.acknowledged[p] = first + texts.size();
        }
      }
    });
  }
  while (*store.head(log) == 0) {
    std::this_thread::yield();
  }
  for (;;) {
    const Position head = *store.head(log);
    if (store.put_snapshot(log, head, to_payload(numbered("snapshot ", head))).ok()) {
      ledger.snapshots += 1;
    }
  }
}

void run_until_killed(const std::filesystem::path& folder, const Kill& kill_at, Ledger& ledger) {
  const pid_t child = fork();
  if (child == 0) {
    work(folder, kill_at, ledger);
  }
  if (kill_at.point.empty()) {
    usleep(static_cast<useconds_t>(kill_at.after_us));
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_FALSE(ledger.refused) << "the store did not open after a kill";
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/// Opens what is left and compares it with the ledger and with what was there before.
void check_after_kill(const std::filesystem::path& folder, Ledger& ledger,
                      std::set<std::string>& known) {
  SqliteStoreOptions options;
  options.folder = folder;
  const auto opened = open_sqlite_store(options);
  ASSERT_TRUE(opened.ok()) << to_string(opened.error());
  Store& store = **opened;
  EXPECT_GT(store.identity().boot_epoch, ledger.epoch);
  ledger.epoch = store.identity().boot_epoch;
  const auto logs = *store.logs();
  ASSERT_GE(logs.size(), ledger.logs);
  if (logs.empty()) {
    return;
  }
  const LogId log = logs.front().id;
  const auto entries = read_all(store, log);
  ASSERT_TRUE(entries.ok()) << to_string(entries.error());
  for (int p = 0; p < kProducers; ++p) {
    for (std::uint64_t i = ledger.begun[p]; i < ledger.acknowledged[p]; ++i) {
      known.insert(entry_text(p, i));
    }
    ledger.begun[p] = ledger.sent[p].load();
    ledger.acknowledged[p] = ledger.sent[p].load();
  }
  std::set<std::string> found;
  for (const std::string& text : to_texts(*entries)) {
    EXPECT_TRUE(found.insert(text).second) << text << " is there twice";
  }
  EXPECT_TRUE(std::includes(found.begin(), found.end(), known.begin(), known.end()))
      << "acknowledged entries are lost";
  known = std::move(found);  // what was not acknowledged and is there must stay, too
  const auto snapshots = *store.snapshots(log);
  EXPECT_LE(snapshots.size(), 3U);  // a kill may come before the oldest is removed
  EXPECT_GE(snapshots.size(), std::min<std::uint64_t>(ledger.snapshots, 1));
  for (const Position position : snapshots) {
    EXPECT_EQ(to_text(*store.get_snapshot(log, position)), numbered("snapshot ", position));
  }
  for (const auto& it : std::filesystem::recursive_directory_iterator(folder)) {
    EXPECT_NE(it.path().extension(), ".part");
  }
}

class SqliteCrashAt : public ::testing::TestWithParam<std::string> {};

TEST_P(SqliteCrashAt, KeepsEverythingAcknowledged) {
  const MemoryFolder folder;
  SharedLedger ledger;
  std::set<std::string> known;
  for (const int hits : {1, 2, 5, 17}) {
    SCOPED_TRACE(hits);
    const Kill at = {GetParam(), hits, 0};
    ASSERT_NO_FATAL_FAILURE(run_until_killed(folder.path() / "data", at, *ledger));
    ASSERT_NO_FATAL_FAILURE(check_after_kill(folder.path() / "data", *ledger, known));
  }
  EXPECT_GT(known.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Points, SqliteCrashAt,
                         ::testing::Values("before_commit", "after_commit",
                                           "before_snapshot_rename", "after_snapshot"),
                         [](const auto& it) { return it.param; });

TEST(SqliteCrash, WhileAStoreIsMadeLeavesOneThatOpens) {
  for (const int hits : {1, 2}) {  // the steps to the present version
    const MemoryFolder folder;
    SharedLedger ledger;
    std::set<std::string> known;
    const Kill at = {"during_migration", hits, 0};
    ASSERT_NO_FATAL_FAILURE(run_until_killed(folder.path() / "data", at, *ledger));
    ASSERT_NO_FATAL_FAILURE(check_after_kill(folder.path() / "data", *ledger, known));
  }
}

TEST(SqliteCrash, AtAnyMomentKeepsEverythingAcknowledged) {
  const MemoryFolder folder;
  SharedLedger ledger;
  std::set<std::string> known;
  const int cycles = std::getenv("HINDSIGHT_FULL") != nullptr ? 400 : 25;
  std::uint64_t state = 1;
  for (int i = 0; i < cycles; ++i) {
    SCOPED_TRACE(i);
    state = state * 6364136223846793005U + 1442695040888963407U;
    // From before the first file is there to well into the work.
    const int after_us = static_cast<int>((state >> 33) % (i % 3 == 0 ? 3'000 : 40'000));
    ASSERT_NO_FATAL_FAILURE(run_until_killed(folder.path() / "data", {"", 0, after_us}, *ledger));
    ASSERT_NO_FATAL_FAILURE(check_after_kill(folder.path() / "data", *ledger, known));
  }
  EXPECT_GT(known.size(), 0U);
}

}  // namespace
}  // namespace hindsight
