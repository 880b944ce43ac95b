// A library made up from a seed, for when there is no data: topics, preferential attachment, and a
// rate of arrival.
//
// Paper after paper arrives. It belongs to a topic (popular topics are likelier) and cites earlier
// papers: mostly of its own topic, the rest of any; within a topic the cited paper is drawn in
// proportion to (citations so far + attractiveness), so that the rich get richer and the counts
// have a heavy tail (Price 1976; Barabasi and Albert 1999). After a change, if there is one, papers
// cite what is new in place of what is famous: one of the latest of the topic, all alike.
//
// The same seed gives the same library on every machine.
//
// Thread-safety: a function of its arguments.

#pragma once

#include <cstdint>

#include "hindsight/result.h"
#include "src/sim/growing_library.h"

namespace hindsight {

struct SyntheticLibraryParams {
  std::uint32_t papers = 6000;       // 1 to 10,000,000
  std::uint32_t topics = 40;         // 1 to papers
  double topic_skew = 0.7;           // topic i has weight (i + 1)^-skew; >= 0
  double citations_per_paper = 3.0;  // mean; arrivals per query are its inverse; > 0, <= 1000
  double own_topic_share = 0.6;      // of the citations; 0 to 1
  double attractiveness = 1.0;       // of a paper without citations; > 0: small makes richer
  double papers_per_year = 150.0;    // in the first year; > 0
  double yearly_growth = 1.05;       // of the papers per year; >= 1
  std::int32_t first_year = 1970;
  double change_at = 1.0;    // the share of papers that come before the change; 0 to 1
  std::uint32_t latest = 5;  // papers of a topic that are cited after it; > 0
};

/// FAILS: kInvalidArgument
Result<GrowingLibrary> make_synthetic_library(const SyntheticLibraryParams& params,
                                              std::uint64_t seed);

}  // namespace hindsight
