#include "src/engine/candidate_set.h"

namespace hindsight {

void put_rows(ByteWriter& out, const FeatureRows& rows) {
  out.put(static_cast<std::uint64_t>(rows.dense_dim));
  out.put(rows.dense);
  out.put(rows.row_begin);
  out.put(rows.sparse_index);
  out.put(rows.sparse_value);
}

bool get_rows(ByteReader& in, FeatureRows& rows) {
  std::uint64_t dense_dim = 0;
  in.get(dense_dim);
  in.get(rows.dense);
  in.get(rows.row_begin);
  in.get(rows.sparse_index);
  rows.dense_dim = dense_dim;
  return in.get(rows.sparse_value);
}

void put_candidates(ByteWriter& out, const CandidateSet& set) {
  out.put(static_cast<std::uint8_t>(set.kind));
  if (set.kind == CandidateSet::Kind::kTopic) {
    out.put(set.topic);
  } else if (set.kind == CandidateSet::Kind::kListed) {
    out.put(set.items);
    out.put(set.prior);
    out.put(!set.features.empty());
    if (!set.features.empty()) {
      put_rows(out, set.features);
    }
  }
}

bool get_candidates(ByteReader& in, CandidateSet& set) {
  std::uint8_t kind = 0;
  if (!in.get(kind) || kind > static_cast<std::uint8_t>(CandidateSet::Kind::kLibrary)) {
    return false;
  }
  set.kind = static_cast<CandidateSet::Kind>(kind);
  if (set.kind == CandidateSet::Kind::kTopic) {
    return in.get(set.topic);
  }
  if (set.kind != CandidateSet::Kind::kListed) {
    return true;
  }
  bool with_features = false;
  in.get(set.items);
  in.get(set.prior);
  in.get(with_features);
  return in.ok() && (set.prior.empty() || set.prior.size() == set.items.size()) &&
         (!with_features || get_rows(in, set.features));
}

}  // namespace hindsight
