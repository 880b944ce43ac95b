// A library of papers that grows, and the stream of queries that [Delage09] section 5 makes of it.
//
// Papers arrive one by one. Each citation of the k-th paper is a query to the library of the papers
// before it: its topic is that of the cited paper, its candidates are the earlier papers of this
// topic, and the pick is the cited paper itself. Then the k-th paper joins the library.
//
// Since candidates keep the order of arrival, every candidate set is the beginning of its topic's
// list: a query is a topic, a length and the pick's rank within the list.
//
// Thread-safety: plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hindsight/types.h"

namespace hindsight {

/// Lists that are stored one behind the other: list i is values[begin[i]] .. values[begin[i + 1]].
struct PackedLists {
  std::vector<std::uint32_t> begin = {0};
  std::vector<std::uint32_t> values;

  std::size_t size() const { return begin.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t i) const {
    return std::span(values).subspan(begin[i], begin[i + 1] - begin[i]);
  }
  /// What was added to `values` since the last call becomes the next list.
  void close_list() { begin.push_back(static_cast<std::uint32_t>(values.size())); }
};

/// What a reader left out, and why. Each row of a file is counted at most once.
struct LibraryCounts {
  std::uint64_t paper_rows = 0;
  std::uint64_t without_year_or_topic = 0;
  std::uint64_t repeated_papers = 0;  // the first row of an id is kept
  std::uint64_t citation_rows = 0;
  std::uint64_t self_citations = 0;
  std::uint64_t unknown_ends = 0;        // citing or cited paper is not among those kept
  std::uint64_t repeated_citations = 0;  // the first row of a pair is kept

  friend bool operator==(const LibraryCounts&, const LibraryCounts&) = default;
};

/// Papers by arrival: the k-th paper has index k. Topics are numbered by first arrival.
struct GrowingLibrary {
  std::string name;
  std::vector<std::string> ids;
  std::vector<std::int32_t> years;
  std::vector<std::uint32_t> topic_of;
  std::vector<std::string> topics;
  PackedLists citations;  // of each paper, in the order of the file; may name later papers
  LibraryCounts counts;

  std::size_t size() const { return topic_of.size(); }
};

/// One query: the pick is lists[topic][rank], the candidates are the first `length` of the list.
struct PrefixQuery {
  std::uint32_t topic = 0;
  std::uint32_t length = 0;
  std::uint32_t rank = 0;
};

/// The queries alone, as the solver for the best fixed policy in hindsight wants them: sums over
/// candidates are sums over prefixes. Query t (counted from 1) is queries[t - 1].
struct PrefixStream {
  PackedLists lists;  // of each topic, its papers in order of arrival
  std::vector<PrefixQuery> queries;
  std::size_t item_count = 0;

  std::span<const ItemIndex> candidates(const PrefixQuery& query) const {
    return lists[query.topic].first(query.length);
  }
  ItemIndex pick(const PrefixQuery& query) const { return lists[query.topic][query.rank]; }
};

/// Who asks a query, and when: among the first `items_there` items. 0 in session or group: not
/// given.
struct Visit {
  std::uint32_t items_there = 0;
  std::uint64_t session = 0;
  std::uint64_t group = 0;
};

/// The queries together with the arrivals between them.
struct LibraryStream {
  PrefixStream prefix;
  std::vector<Visit> visits;        // of each query; items_there never falls
  PackedLists links;                // of each item, the earlier items that it points to
  std::uint64_t not_yet_there = 0;  // citations of papers that had not arrived: not queries
};

/// The stream of [Delage09] section 5. The session is the citing paper's index + 1, the group its
/// topic + 1. REQUIRES: the library is consistent: citations name its papers, no paper cites itself
LibraryStream make_stream(const GrowingLibrary& library);

}  // namespace hindsight
