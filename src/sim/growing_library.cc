#include "src/sim/growing_library.h"

#include "src/core/check.h"

namespace hindsight {
namespace {

/// Each paper's place in its topic's list; fills the lists.
std::vector<std::uint32_t> list_by_topic(const GrowingLibrary& library, PackedLists& lists) {
  std::vector<std::uint32_t> count(library.topics.size(), 0);
  std::vector<std::uint32_t> rank(library.size());
  for (std::size_t paper = 0; paper < library.size(); ++paper) {
    rank[paper] = count[library.topic_of[paper]]++;
  }
  lists.begin.resize(count.size() + 1);
  for (std::size_t topic = 0; topic < count.size(); ++topic) {
    lists.begin[topic + 1] = lists.begin[topic] + count[topic];
  }
  lists.values.resize(library.size());
  for (std::size_t paper = 0; paper < library.size(); ++paper) {
    lists.values[lists.begin[library.topic_of[paper]] + rank[paper]] =
        static_cast<ItemIndex>(paper);
  }
  return rank;
}

}  // namespace

LibraryStream make_stream(const GrowingLibrary& library) {
  LibraryStream stream;
  stream.prefix.item_count = library.size();
  const std::vector<std::uint32_t> rank = list_by_topic(library, stream.prefix.lists);
  std::vector<std::uint32_t> arrived(library.topics.size(), 0);
  for (std::size_t paper = 0; paper < library.size(); ++paper) {
    for (const ItemIndex cited : library.citations[paper]) {
      HINDSIGHT_CHECK(cited < library.size() && cited != paper);
      if (cited > paper) {
        ++stream.not_yet_there;
        continue;
      }
      const std::uint32_t topic = library.topic_of[cited];
      stream.prefix.queries.push_back({topic, arrived[topic], rank[cited]});
      stream.visits.push_back({static_cast<std::uint32_t>(paper), std::uint64_t{paper} + 1,
                               std::uint64_t{library.topic_of[paper]} + 1});
      stream.links.values.push_back(cited);
    }
    stream.links.close_list();
    ++arrived[library.topic_of[paper]];
  }
  return stream;
}

}  // namespace hindsight
