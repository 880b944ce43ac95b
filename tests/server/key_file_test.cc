#include "src/server/key_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

namespace hindsight {
namespace {

const std::string kHashText = "sha256:" + std::string(64, 'a');

std::string one_key(const std::string& lines) {
  return "version = 1\n[[key]]\nid = \"0123456789ab\"\nhash = \"" + kHashText + "\"\n" + lines;
}

ErrorCode code_of(const std::string& text) {
  const auto parsed = parse_keys(text);
  EXPECT_FALSE(parsed.ok()) << text;
  return parsed.ok() ? ErrorCode::kIo : parsed.error().code;
}

TEST(KeyFile, EveryFieldIsRead) {
  const auto parsed =
      parse_keys(one_key("role = \"publishable\"\ncollections = [\"books\", \"a-b_1\"]\n"
                         "origins = [\"https://shop.example\"]\ncreated_ms = 7\nrevoked_ms = 9\n"));
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  ASSERT_EQ(parsed->size(), 1u);
  const KeyRecord& record = parsed->front();
  EXPECT_EQ(record.principal.id, "0123456789ab");
  EXPECT_EQ(record.principal.role, Role::kClick);
  EXPECT_TRUE(record.principal.publishable);
  EXPECT_EQ(record.principal.collections, (std::vector<std::string>{"books", "a-b_1"}));
  EXPECT_EQ(record.principal.origins, std::vector<std::string>{"https://shop.example"});
  EXPECT_EQ(record.hash[31], 0xaa);
  EXPECT_EQ(record.created_ms, 7);
  EXPECT_EQ(record.revoked_ms, 9);
}

TEST(KeyFile, DamagedTextIsRefused) {
  EXPECT_EQ(code_of("version = 1\n[[key"), ErrorCode::kParse);
  EXPECT_EQ(code_of(""), ErrorCode::kParse);
  EXPECT_EQ(code_of("version = 3\n"), ErrorCode::kNewerVersion);
  EXPECT_EQ(code_of("version = 2\n"), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of("version = 1\nkey = 3\n"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of("version = 1\nkey = [3]\n"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of("version = 1\n[[key]]\n"), ErrorCode::kParse);
}

TEST(KeyFile, ValuesThatMakeNoSenseAreRefused) {
  for (const std::string lines : {
           "role = \"king\"\n",
           "role = 3\n",
           "role = \"admin\"\ncolections = []\n",
           "role = \"admin\"\ncollections = [\"Books\"]\n",
           "role = \"admin\"\ncollections = [3]\n",
           "role = \"admin\"\norigins = [\"https://shop.example\"]\n",
           "role = \"publishable\"\n",
           "role = \"publishable\"\norigins = [\"https://shop.example/path\"]\n",
           "role = \"publishable\"\norigins = [\"*\"]\n",
           "role = \"publishable\"\norigins = [\"ftp://shop.example\"]\n",
           "role = \"admin\"\ncreated_ms = -1\n",
           "role = \"admin\"\nrevoked_ms = \"yes\"\n",
       }) {
    EXPECT_EQ(code_of(one_key(lines)), ErrorCode::kInvalidArgument) << lines;
  }
}

TEST(KeyFile, ErrorsNameTheKeyAndSuggestANearName) {
  const auto parsed = parse_keys(one_key("role = \"admin\"\ncolections = []\n"));
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().field, "key[0].colections");
  EXPECT_NE(parsed.error().message.find("'collections'"), std::string::npos);
}

TEST(KeyFile, TheSameIdTwiceIsRefused) {
  const std::string once = one_key("role = \"admin\"\n");
  const std::string twice = once + once.substr(once.find("[[key]]"));
  EXPECT_EQ(code_of(twice), ErrorCode::kInvalidArgument);
}

TEST(KeyFile, ShortAndForeignHashesAreRefused) {
  for (const std::string& hash : {std::string("sha256:aa"), "md5:" + std::string(64, 'a'),
                                  std::string(64, 'a'), "sha256:" + std::string(64, 'g')}) {
    EXPECT_EQ(code_of("version = 1\n[[key]]\nid = \"0123456789ab\"\nrole = \"read\"\nhash = \"" +
                      hash + "\"\n"),
              ErrorCode::kInvalidArgument);
  }
}

RC_GTEST_PROP(KeyFile, WhatIsWrittenIsReadAgain, ()) {
  std::vector<KeyRecord> records;
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) {
    KeyRecord record;
    record.principal.id = "00000000000" + std::to_string(i);
    record.principal.role = *rc::gen::element(Role::kAdmin, Role::kItems, Role::kRank, Role::kRead);
    if (*rc::gen::arbitrary<bool>()) {
      record.principal.role = Role::kClick;
      record.principal.publishable = true;
      record.principal.origins = {"http://localhost:3000", "https://a.example"};
    }
    if (*rc::gen::arbitrary<bool>()) {
      record.principal.collections = {"books", "films-2"};
    }
    record.hash.fill(static_cast<std::uint8_t>(*rc::gen::inRange(0, 256)));
    record.created_ms = *rc::gen::inRange<std::int64_t>(0, 1LL << 50);
    if (*rc::gen::arbitrary<bool>()) {
      record.revoked_ms = *rc::gen::inRange<std::int64_t>(0, 1LL << 50);
    }
    records.push_back(record);
  }
  const auto parsed = parse_keys(format_keys(records));
  RC_ASSERT(parsed.ok());
  RC_ASSERT(parsed->size() == records.size());
  RC_ASSERT(format_keys(*parsed) == format_keys(records));
}

std::string text_with_a_revoked_key() {
  KeyRecord record;
  record.principal.id = "0123456789ab";
  record.principal.role = Role::kRead;
  record.created_ms = 7;
  KeyRecord revoked = record;
  revoked.principal.id = "0123456789ac";
  revoked.revoked_ms = 9;
  return format_keys({record, revoked});
}

TEST(KeyFile, CutAtAnyPlaceIsRefused) {
  const std::string text = text_with_a_revoked_key();
  ASSERT_TRUE(parse_keys(text).ok());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_keys(text.substr(0, size)).ok()) << text.substr(0, size);
  }
}

TEST(KeyFile, AnyFlippedBitIsRefused) {
  const std::string text = text_with_a_revoked_key();
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(parse_keys(flipped).ok()) << flipped;
  }
}

TEST(KeyFile, AWrongChecksumIsToldApartFromAWrongText) {
  std::string text = text_with_a_revoked_key();
  text.erase(text.find("revoked_ms"));
  const auto parsed = parse_keys(text);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(parsed.error().field, "checksum");
}

TEST(KeyFile, VersionOneIsReadAndWrittenAsVersionTwo) {
  const auto parsed = parse_keys(one_key("role = \"read\"\nrevoked_ms = 9\n"));
  ASSERT_TRUE(parsed.ok());
  const std::string written = format_keys(*parsed);
  EXPECT_NE(written.find("version = 2\nchecksum = \"sha256:"), std::string::npos) << written;
  const auto again = parse_keys(written);
  ASSERT_TRUE(again.ok()) << to_string(again.error());
  EXPECT_EQ(again->front().revoked_ms, 9);
}

TEST(Key, IsNeverDrawnTwiceAndKnowsItsId) {
  const auto one = draw_key();
  const auto two = draw_key();
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(one->text, two->text);
  EXPECT_EQ(id_of_key(one->text), one->id);
  EXPECT_EQ(one->text.size(), 3 + 12 + 1 + 64u);
}

TEST(Key, OtherTextHasNoId) {
  const std::string key = draw_key()->text;
  for (const std::string& text : {std::string(), key + " ", key.substr(1), "xx_" + key.substr(3),
                                  "hs_" + std::string(77, '_')}) {
    EXPECT_EQ(id_of_key(text), "") << text;
  }
}

TEST(Key, TheComparisonOfHashesLooksAtEveryByteWhereverTheyDiffer) {
  // Half of one hash lies on a page that nobody may read: a comparison that ends at the first
  // difference would never touch it.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const pages =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const place = static_cast<unsigned char*>(pages) + page - sizeof(KeyHash) / 2;
  std::memset(place, 0xff, sizeof(KeyHash));
  ASSERT_EQ(::mprotect(static_cast<unsigned char*>(pages) + page, page, PROT_NONE), 0);
  const KeyHash other = {};
  EXPECT_DEATH(EXPECT_FALSE(same_hash(*reinterpret_cast<const KeyHash*>(place), other)), "");
  ::munmap(pages, 2 * page);
}

TEST(Key, HashIsSha256) {
  const KeyHash hash = hash_key("abc");  // FIPS 180-2, appendix B.1
  EXPECT_EQ(hash[0], 0xba);
  EXPECT_EQ(hash[31], 0xad);
  EXPECT_TRUE(same_hash(hash, hash_key("abc")));
  EXPECT_FALSE(same_hash(hash, hash_key("abd")));
}

}  // namespace
}  // namespace hindsight
