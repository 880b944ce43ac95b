#include "src/server/keys.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temp_folder.h"

namespace hindsight {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

unsigned mode_of(const std::filesystem::path& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 0777u;
}

/// While it lives, this thread may not read what a file's mode forbids, not even as root.
class BoundByModes {
 public:
  BoundByModes() {
    EXPECT_EQ(::syscall(SYS_capget, &header_, before_.data()), 0);
    auto fewer = before_;
    fewer[0].effective &= ~((1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH));
    EXPECT_EQ(::syscall(SYS_capset, &header_, fewer.data()), 0);
  }
  ~BoundByModes() { EXPECT_EQ(::syscall(SYS_capset, &header_, before_.data()), 0); }
  BoundByModes(const BoundByModes&) = delete;
  BoundByModes& operator=(const BoundByModes&) = delete;

 private:
  __user_cap_header_struct header_ = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> before_ = {};
};

class Keys : public ::testing::Test {
 protected:
  std::unique_ptr<KeyRing> open() {
    auto ring =
        KeyRing::open({.folder = folder_.path(),
                       .clock = [this] { return now_ms_.load(); },
                       .warn = [this](std::string_view line) { said_.emplace_back(line); }});
    EXPECT_TRUE(ring.ok()) << to_string(ring.error());
    return *std::move(ring);
  }
  std::string add(const KeyWish& wish) {
    const auto key = add_key(folder_.path(), wish, now_ms_);
    EXPECT_TRUE(key.ok()) << to_string(key.error());
    return key->text;
  }

  TempFolder folder_;
  std::atomic<std::int64_t> now_ms_ = 1'000'000;
  std::vector<std::string> said_;
};

TEST_F(Keys, FirstStartMakesAnAdminKeyOnce) {
  const auto first = ensure_admin_key(folder_.path(), 5);
  ASSERT_TRUE(first.ok() && first->has_value());
  EXPECT_EQ(text_of(folder_.path() / "admin.key"), (*first)->text + "\n");
  const auto second = ensure_admin_key(folder_.path(), 6);
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->has_value());
  const auto found = open()->find((*first)->text);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->role, Role::kAdmin);
}

TEST_F(Keys, WhatRootWritesBelongsToTheOwnerOfTheFolder) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  ASSERT_EQ(::chown(folder_.path().c_str(), 12345, 23456), 0);
  const auto admin = ensure_admin_key(folder_.path(), 5);
  ASSERT_TRUE(admin.ok());
  add({.role = "rank"});
  for (const char* name : {"admin.key", "keys.toml", "keys.lock"}) {
    struct stat info = {};
    ASSERT_EQ(::stat((folder_.path() / name).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, 12345u) << name;
    EXPECT_EQ(info.st_gid, 23456u) << name;
  }
}

TEST_F(Keys, RootGivesAwayNothingThatALinkPointsTo) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  const TempFolder elsewhere;
  const std::filesystem::path secret = elsewhere.path() / "secret";
  std::ofstream(secret) << "root's";
  ASSERT_EQ(::chown(folder_.path().c_str(), 12345, 23456), 0);
  std::filesystem::create_symlink(secret, folder_.path() / "keys.toml.part");
  std::filesystem::create_symlink(secret, folder_.path() / "keys.lock");
  EXPECT_FALSE(add_key(folder_.path(), {.role = "rank"}, 5).ok());  // the lock is no file
  std::filesystem::remove(folder_.path() / "keys.lock");
  std::filesystem::create_hard_link(secret, folder_.path() / "keys.lock");
  EXPECT_TRUE(ensure_admin_key(folder_.path(), 5).ok());
  struct stat info = {};
  ASSERT_EQ(::stat(secret.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 0u);
  EXPECT_EQ(text_of(secret), "root's");
}

TEST_F(Keys, FilesAreForTheirOwnerOnlyAndHoldNoKey) {
  const auto admin = ensure_admin_key(folder_.path(), 5);
  const std::string other = add({.role = "rank"});
  for (const char* name : {"admin.key", "keys.toml", "keys.lock"}) {
    EXPECT_EQ(mode_of(folder_.path() / name), 0600u) << name;
  }
  const std::string text = text_of(folder_.path() / "keys.toml");
  for (const std::string& key : {(*admin)->text, other}) {
    EXPECT_EQ(text.find(key.substr(key.rfind('_') + 1)), std::string::npos);
  }
}

TEST_F(Keys, FoundKeysKeepTheirScope) {
  const std::string key =
      add({.role = "publishable", .collections = {"books"}, .origins = {"https://shop.example"}});
  const auto found = open()->find(key);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->role, Role::kClick);
  EXPECT_TRUE(found->publishable);
  EXPECT_EQ(found->collections, std::vector<std::string>{"books"});
  EXPECT_EQ(found->origins, std::vector<std::string>{"https://shop.example"});
}

TEST_F(Keys, OriginsAreKnownWhileAKeyIsBoundToThem) {
  const std::string key = add({.role = "publishable", .origins = {"https://shop.example"}});
  const auto ring = open();
  EXPECT_TRUE(ring->knows_origin("https://shop.example"));
  EXPECT_FALSE(ring->knows_origin("https://shop.example.evil"));
  ASSERT_TRUE(revoke_key(folder_.path(), id_of_key(key), now_ms_).ok());
  now_ms_ += 1000;
  EXPECT_FALSE(ring->knows_origin("https://shop.example"));
}

TEST_F(Keys, WrongKeysAreNotFound) {
  const std::string key = add({.role = "read"});
  const auto ring = open();
  std::string flipped = key;
  flipped.back() = flipped.back() == '0' ? '1' : '0';
  std::string foreign = key;
  foreign[3] = foreign[3] == '0' ? '1' : '0';
  for (const std::string& wrong : {flipped, foreign, std::string(), key + "0", key.substr(3)}) {
    EXPECT_EQ(ring->find(wrong), nullptr) << wrong;
  }
}

TEST_F(Keys, KeysMadeBesideARunningServerWorkWithinASecond) {
  add({.role = "admin"});
  const auto ring = open();
  const std::string key = add({.role = "read"});
  EXPECT_EQ(ring->find(key), nullptr);
  now_ms_ += 1000;
  EXPECT_NE(ring->find(key), nullptr);
}

TEST_F(Keys, RevokedKeysStopWithinASecondAndForEver) {
  const std::string key = add({.role = "read"});
  const auto ring = open();
  ASSERT_NE(ring->find(key), nullptr);
  const auto first = revoke_key(folder_.path(), id_of_key(key), now_ms_);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(*first);
  now_ms_ += 1000;
  EXPECT_EQ(ring->find(key), nullptr);
  const auto again = revoke_key(folder_.path(), id_of_key(key), now_ms_);
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(*again);
  EXPECT_EQ(open()->find(key), nullptr);
  EXPECT_EQ(list_keys(folder_.path())->front().revoked_ms, 1'000'000);
}

TEST_F(Keys, AClockSetBackDoesNotKeepARevokedKeyAlive) {
  const std::string key = add({.role = "read"});
  const auto ring = open();
  ASSERT_TRUE(revoke_key(folder_.path(), id_of_key(key), now_ms_).ok());
  now_ms_ -= 500'000;
  EXPECT_EQ(ring->find(key), nullptr);
}

TEST_F(Keys, ADamagedFileKeepsTheLastGoodKeysAndWarnsOnce) {
  const std::string key = add({.role = "read"});
  const auto ring = open();
  folder_.write("keys.toml", "version = ");
  for (int i = 0; i < 3; ++i) {
    now_ms_ += 1000;
    EXPECT_NE(ring->find(key), nullptr);
  }
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_NE(said_[0].find("keys.toml"), std::string::npos);
  EXPECT_NE(said_[0].find("stay in force"), std::string::npos);
}

TEST_F(Keys, ARevokedKeyStaysRevokedWhileTheFileIsDamaged) {
  const std::string key = add({.role = "read"});
  ASSERT_TRUE(revoke_key(folder_.path(), id_of_key(key), now_ms_).ok());
  const auto ring = open();
  std::filesystem::remove(folder_.path() / "keys.toml");
  now_ms_ += 1000;
  EXPECT_EQ(ring->find(key), nullptr);
  EXPECT_EQ(said_.size(), 1u);
}

TEST_F(Keys, AFileThatCouldNotBeReadForAMomentIsReadAtTheNextLook) {
  const std::string key = add({.role = "read"});
  const auto ring = open();
  ASSERT_TRUE(revoke_key(folder_.path(), id_of_key(key), now_ms_).ok());
  const std::filesystem::path file = folder_.path() / "keys.toml";
  const unsigned mode = mode_of(file);
  now_ms_ += 1000;
  {
    const BoundByModes bound;
    ASSERT_EQ(::chmod(file.c_str(), 0), 0);
    EXPECT_NE(ring->find(key), nullptr);
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
  }
  EXPECT_EQ(said_.size(), 1u);
  now_ms_ += 1000;
  EXPECT_EQ(ring->find(key), nullptr) << "nothing that tells versions apart has changed meanwhile";
}

TEST_F(Keys, ADamagedFileAtTheStartIsAClearError) {
  folder_.write("keys.toml", "version = 1\n[[key]]\nid = 3\n");
  const auto ring = KeyRing::open({.folder = folder_.path(), .clock = [] { return 0; }});
  ASSERT_FALSE(ring.ok());
  EXPECT_NE(ring.error().message.find("keys.toml"), std::string::npos);
  EXPECT_NE(ring.error().message.find("key[0].id"), std::string::npos);
  EXPECT_FALSE(add_key(folder_.path(), {.role = "read"}, 0).ok()) << "would drop what is there";
}

TEST_F(Keys, NoFileAtTheStartIsAnError) {
  const auto ring = KeyRing::open({.folder = folder_.path(), .clock = [] { return 0; }});
  ASSERT_FALSE(ring.ok());
  EXPECT_EQ(ring.error().code, ErrorCode::kNotFound);
}

TEST_F(Keys, NoKeyIsAddedWhereAllOthersWereLost) {
  folder_.write("hindsight.db", "a log");
  const auto refused = add_key(folder_.path(), {.role = "read"}, now_ms_);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("restore it"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "keys.toml"));
}

TEST_F(Keys, AnUnknownIdCannotBeRevoked) {
  add({.role = "read"});
  const auto revoked = revoke_key(folder_.path(), "nobody", now_ms_);
  ASSERT_FALSE(revoked.ok());
  EXPECT_EQ(revoked.error().code, ErrorCode::kNotFound);
}

TEST_F(Keys, ChangesFromManyPlacesAtOnceAllCount) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this] {
      for (int n = 0; n < kEach; ++n) {
        add({.role = "read"});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(list_keys(folder_.path())->size(), kThreads * kEach);
}

TEST_F(Keys, LookingUpWhileTheFileChangesIsSafe) {
  const std::string key = add({.role = "read"});
  const auto ring = open();
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        now_ms_ += 1000;
        EXPECT_NE(ring->find(key), nullptr);
      }
    });
  }
  for (int n = 0; n < 20; ++n) {
    add({.role = "rank"});
  }
  stop = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
}

TEST_F(Keys, AChangeOfTheFileIsToldWithTheIdsOfKeys) {
  const std::string old_key = add({.role = "rank"});
  std::vector<std::string> changes;
  auto ring =
      KeyRing::open({.folder = folder_.path(),
                     .clock = [this] { return now_ms_.load(); },
                     .changed = [&changes](std::string_view what) { changes.emplace_back(what); }});
  ASSERT_TRUE(ring.ok());
  EXPECT_NE((*ring)->find(old_key), nullptr);
  EXPECT_TRUE(changes.empty());
  const std::string new_key = add({.role = "click"});
  now_ms_ += 2000;
  EXPECT_NE((*ring)->find(new_key), nullptr);
  const std::string old_id(id_of_key(old_key));
  ASSERT_TRUE(revoke_key(folder_.path(), old_id, now_ms_).ok());
  now_ms_ += 2000;
  EXPECT_EQ((*ring)->find(old_key), nullptr);
  EXPECT_EQ(changes, (std::vector<std::string>{"added " + std::string(id_of_key(new_key)),
                                               "revoked " + old_id}));
}

}  // namespace
}  // namespace hindsight
