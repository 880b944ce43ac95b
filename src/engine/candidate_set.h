// CandidateSet: what a decision chose among, as the log keeps it.
//
// A decision holds what was shown, which is all that learning needs. What another ranker would have
// shown depends on the candidates that were not, so these are logged too: as positions in the item
// table, or, where the set is the server's own, as a reference to it.
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstdint>
#include <vector>

#include "hindsight/types.h"
#include "src/core/bytes.h"

namespace hindsight {

struct CandidateSet {
  enum class Kind : std::uint8_t {
    kNotLogged,
    kShown,    // everything was shown, and nothing was said about a candidate
    kListed,   // `items`
    kTopic,    // the items of `topic`, as of the decision's model version
    kLibrary,  // all live items, as of the decision's model version
  };

  Kind kind = Kind::kNotLogged;
  std::uint32_t topic = 0;            // its number in the item table
  std::vector<ItemIndex> items = {};  // as the caller sent them
  std::vector<double> prior = {};     // of each of `items`, or empty
  FeatureRows features = {};          // likewise: those of the request, in place of the items' own

  /// Whether it is a reference to items that come and go.
  bool by_reference() const { return kind == Kind::kTopic || kind == Kind::kLibrary; }
};

void put_rows(ByteWriter& out, const FeatureRows& rows);
/// RETURNS: false for bytes that make no sense, here and below.
bool get_rows(ByteReader& in, FeatureRows& rows);

void put_candidates(ByteWriter& out, const CandidateSet& set);
bool get_candidates(ByteReader& in, CandidateSet& set);

}  // namespace hindsight
