#include "src/sim/table_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace hindsight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Rows = std::vector<std::vector<std::string>>;

RowSink collect(Rows& rows) {
  return [&rows](std::span<const std::string_view> cells) -> Result<void> {
    rows.emplace_back(cells.begin(), cells.end());
    return {};
  };
}

const TableSpec kNameAndAge{"people.tsv", {"name", "age"}, {}};

std::string compress(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 19));
  return out;
}

Error error_of(std::string_view text, TextEncoding encoding = TextEncoding::kPlain,
               const TableSpec& spec = kNameAndAge) {
  Rows rows;
  const Result<void> read = parse_table(text, encoding, spec, collect(rows));
  EXPECT_FALSE(read.ok());
  return read.ok() ? Error{} : read.error();
}

TEST(TableReader, FindsColumnsByNameInAnyOrder) {
  Rows rows;
  ASSERT_TRUE(parse_table("age\tcity\tname\n7\tUlm\tAda\n8\t\tBob\n", TextEncoding::kPlain,
                          kNameAndAge, collect(rows))
                  .ok());
  EXPECT_THAT(rows, ElementsAre(ElementsAre("Ada", "7"), ElementsAre("Bob", "8")));
}

TEST(TableReader, ReadsWhatIsOnlyUgly) {
  Rows rows;
  // A byte order mark, DOS line ends, a blank line, latin-1 in a column that nobody asked for, and
  // no end of the last line.
  ASSERT_TRUE(parse_table("\xEF\xBB\xBFname\tage\tcity\r\nAda\t7\tM\xFCnchen\r\n\r\nBob\t8\tUlm",
                          TextEncoding::kPlain, kNameAndAge, collect(rows))
                  .ok());
  EXPECT_THAT(rows, ElementsAre(ElementsAre("Ada", "7"), ElementsAre("Bob", "8")));
}

TEST(TableReader, NamesFileLineAndReasonOfAWrongNumberOfColumns) {
  const Error few = error_of("name\tage\nAda\t7\nBob\n");
  EXPECT_EQ(few.code, ErrorCode::kParse);
  EXPECT_EQ(to_string(few), "people.tsv:3: 1 columns where the header has 2");
  EXPECT_EQ(to_string(error_of("name\tage\nAda\t7\t\n")),
            "people.tsv:2: 3 columns where the header has 2");
}

TEST(TableReader, RefusesBrokenUtf8InAUsedColumn) {
  EXPECT_EQ(to_string(error_of("name\tage\nM\xFCller\t7\n")),
            "people.tsv:2: column 'name' is not UTF-8");
}

TEST(TableReader, RefusesNulBytesEverywhere) {
  using namespace std::string_literals;
  EXPECT_THAT(to_string(error_of("name\tage\tcity\nAda\t7\tU\0lm\n"s)),
              HasSubstr("people.tsv:2: a NUL byte"));
  EXPECT_THAT(to_string(error_of("na\0me\tage\n"s)), HasSubstr("people.tsv:1: a NUL byte"));
}

TEST(TableReader, RefusesAHeaderWithoutTheColumnOrWithTwoOfIt) {
  EXPECT_EQ(to_string(error_of("name\tcity\nAda\tUlm\n")),
            "people.tsv:1: no column named 'age' in the header");
  EXPECT_EQ(to_string(error_of("name\tage\tname\n")),
            "people.tsv:1: more than one column named 'name' in the header");
  EXPECT_EQ(to_string(error_of("")), "people.tsv: no header line");
}

TEST(TableReader, RefusesALineBeyondTheLimit) {
  TableSpec spec = kNameAndAge;
  spec.limits.max_line_bytes = 16;
  EXPECT_EQ(to_string(error_of("name\tage\nAda\t" + std::string(20, '7') + "\n",
                               TextEncoding::kPlain, spec)),
            "people.tsv:2: longer than 16 bytes");
  Rows rows;
  EXPECT_TRUE(parse_table("name\tage\nAda\t" + std::string(12, '7') + "\n", TextEncoding::kPlain,
                          spec, collect(rows))
                  .ok());
}

TEST(TableReader, StopsAZstdBombAtTheLimitOfTextOrOfOneLine) {
  TableSpec spec = kNameAndAge;
  spec.limits.max_text_bytes = 1 << 20;
  std::string many_rows = "name\tage\n";
  for (int i = 0; i < 1'000'000; ++i) {
    many_rows += "A\t7\n";
  }
  const Error text = error_of(compress(many_rows), TextEncoding::kZstd, spec);
  EXPECT_EQ(text.code, ErrorCode::kTooLarge);
  EXPECT_EQ(to_string(text), "people.tsv: more than 1048576 bytes of text");

  const std::string one_line = compress("name\tage\n" + std::string(std::size_t{64} << 20, 'a'));
  ASSERT_LT(one_line.size(), 16'384U);
  EXPECT_EQ(to_string(error_of(one_line, TextEncoding::kZstd)),
            "people.tsv:2: longer than 1048576 bytes");
}

TEST(TableReader, ReadsZstdInSeveralFrames) {
  Rows rows;
  ASSERT_TRUE(parse_table(compress("name\tage\nAda\t") + compress("7\nBob\t8\n"),
                          TextEncoding::kZstd, kNameAndAge, collect(rows))
                  .ok());
  EXPECT_THAT(rows, ElementsAre(ElementsAre("Ada", "7"), ElementsAre("Bob", "8")));
}

TEST(TableReader, RefusesTruncatedAndDamagedZstd) {
  const std::string whole = compress("name\tage\nAda\t7\n");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(error_of(whole.substr(0, size), TextEncoding::kZstd).code, ErrorCode::kCorrupt)
        << size;
  }
  EXPECT_EQ(error_of("name\tage\nAda\t7\n", TextEncoding::kZstd).code, ErrorCode::kCorrupt);
}

TEST(TableReader, AddsThePlaceToTheSinksError) {
  const Result<void> read =
      parse_table("name\tage\nAda\t7\nBob\told\n", TextEncoding::kPlain, kNameAndAge,
                  [](std::span<const std::string_view> cells) -> Result<void> {
                    if (cells[1] == "old") {
                      return Error{ErrorCode::kParse, "no number", ""};
                    }
                    return {};
                  });
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(to_string(read.error()), "people.tsv:3: no number");
}

TEST(TableReader, ReadsPlainAndCompressedFiles) {
  const TempFolder folder;
  const std::string text = "name\tage\nAda\t7\n";
  for (const auto& path :
       {folder.write("a.tsv", text), folder.write("a.tsv.zst", compress(text))}) {
    Rows rows;
    ASSERT_TRUE(read_table(path, kNameAndAge, collect(rows)).ok()) << path;
    EXPECT_THAT(rows, ElementsAre(ElementsAre("Ada", "7")));
  }
}

TEST(TableReader, SaysWhichFileIsMissingUnreadableOrDamaged) {
  const TempFolder folder;
  Rows rows;
  const Result<void> missing = read_table(folder.path() / "no.tsv", kNameAndAge, collect(rows));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(to_string(missing.error()), HasSubstr("no.tsv: cannot be opened"));

  const Result<void> directory = read_table(folder.path(), kNameAndAge, collect(rows));
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().code, ErrorCode::kIo);

  const Result<void> damaged =
      read_table(folder.write("a.tsv.zst", "not zstd"), kNameAndAge, collect(rows));
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(to_string(damaged.error()), HasSubstr("a.tsv.zst: the zstd data is damaged"));
}

TEST(TableReader, KnowsUtf8) {
  EXPECT_TRUE(is_utf8("plain, \xC3\xA9, \xE2\x82\xAC, \xF0\x9F\x98\x80, \xF4\x8F\xBF\xBF"));
  EXPECT_FALSE(is_utf8("\x80"));              // a continuation without a beginning
  EXPECT_FALSE(is_utf8("\xC0\xAF"));          // longer than needed
  EXPECT_FALSE(is_utf8("\xE0\x9F\xBF"));      // longer than needed
  EXPECT_FALSE(is_utf8("\xF0\x8F\xBF\xBF"));  // longer than needed
  EXPECT_FALSE(is_utf8("\xED\xA0\x80"));      // a surrogate
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_FALSE(is_utf8("\xE2\x82"));          // cut short
}

// However the text is cut into pieces, the same rows or the same error come out.
RC_GTEST_PROP(TableReader, PiecesDoNotMatter, ()) {
  const auto cell =
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab\t\n\r\xC3\xA9\0", 8)));
  const std::string text = "name\tage\n" + *cell;
  Rows whole_rows;
  const Result<void> whole =
      parse_table(text, TextEncoding::kPlain, kNameAndAge, collect(whole_rows));

  Rows rows;
  TableParser parser(kNameAndAge, collect(rows));
  Result<void> fed;
  for (std::size_t at = 0; at < text.size() && fed.ok();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 5);
    fed = parser.feed(std::string_view(text).substr(at, size));
    at += size;
  }
  if (fed.ok()) {
    fed = parser.finish();
  }
  RC_ASSERT(fed.ok() == whole.ok());
  RC_ASSERT(fed.ok() || to_string(fed.error()) == to_string(whole.error()));
  RC_ASSERT(rows == whole_rows);
}

}  // namespace
}  // namespace hindsight
