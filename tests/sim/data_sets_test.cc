#include "src/sim/data_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace hindsight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void write_library(const std::filesystem::path& folder, std::string_view topic_column = "topic") {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "papers.tsv") << "id\tyear\t" << topic_column << "\na\t1990\tx\n";
  std::ofstream(folder / "citations.tsv") << "citing\tcited\n";
}

std::vector<std::string> names(const Result<ChosenLibraries>& chosen) {
  EXPECT_TRUE(chosen.ok()) << to_string(chosen.error());
  std::vector<std::string> found;
  for (const GrowingLibrary& library : chosen->libraries) {
    found.push_back(library.name);
  }
  return found;
}

TEST(DataSets, AFolderWithPapersIsALibrary) {
  const TempFolder root;
  write_library(root.path() / "books");
  EXPECT_THAT(names(load_libraries({.data = root.path() / "books"})), ElementsAre("books"));
}

TEST(DataSets, CoraIsTheDefaultOfAFolderOfSets) {
  const TempFolder root;
  write_library(root.path() / "aan", "venue");
  write_library(root.path() / "cora");
  write_library(root.path() / "zoo");
  std::filesystem::create_directories(root.path() / "no-library");
  EXPECT_THAT(names(load_libraries({.data = root.path()})), ElementsAre("cora"));
  EXPECT_THAT(names(load_libraries({.data = root.path(), .names = {"all"}})),
              ElementsAre("cora", "aan", "zoo", "synthetic"));
  EXPECT_THAT(names(load_libraries({.data = root.path(), .names = {"zoo", "aan", "zoo"}})),
              ElementsAre("zoo", "aan"));
}

TEST(DataSets, WithoutCoraAllSetsAreTaken) {
  const TempFolder root;
  write_library(root.path() / "b");
  write_library(root.path() / "a");
  EXPECT_THAT(names(load_libraries({.data = root.path()})), ElementsAre("a", "b"));
}

TEST(DataSets, AnotherTopicColumnCanBeNamed) {
  const TempFolder root;
  write_library(root.path() / "books", "shelf");
  EXPECT_THAT(to_string(load_libraries({.data = root.path()}).error()),
              HasSubstr("no column named 'topic'"));
  EXPECT_THAT(names(load_libraries({.data = root.path(), .topic_column = "shelf"})),
              ElementsAre("books"));
}

TEST(DataSets, AMissingFolderOrSetIsNamed) {
  const TempFolder root;
  EXPECT_THAT(to_string(load_libraries({.data = root.path() / "no"}).error()),
              HasSubstr("no: there is no such folder"));
  EXPECT_THAT(to_string(load_libraries({.data = root.path()}).error()),
              HasSubstr("holds no papers.tsv"));
  write_library(root.path() / "books");
  EXPECT_THAT(
      to_string(load_libraries({.data = root.path(), .names = {"cora"}}).error()),
      HasSubstr("there is no data set 'cora'; there are: books, synthetic, synthetic-change"));
}

TEST(DataSets, WithoutDataTheSyntheticLibraryIsUsedAndSaidSo) {
  const TempFolder nowhere;
  std::filesystem::create_directories(nowhere.path() / "work");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(nowhere.path() / "work");
  const auto chosen = load_libraries({});
  const auto asked_for = load_libraries({.names = {"synthetic"}});
  write_library(nowhere.path() / "work" / "data" / "books");
  const auto beside = load_libraries({});
  std::filesystem::current_path(before);
  EXPECT_THAT(names(chosen), ElementsAre("synthetic"));
  ASSERT_EQ(chosen->notes.size(), 1U);
  EXPECT_THAT(chosen->notes[0], HasSubstr("no data in ../shared/data or data"));
  EXPECT_THAT(names(asked_for), ElementsAre("synthetic"));
  EXPECT_THAT(asked_for->notes, IsEmpty());
  EXPECT_THAT(names(beside), ElementsAre("books"));
}

}  // namespace
}  // namespace hindsight
