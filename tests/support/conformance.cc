#include "tests/support/conformance.h"

#include "src/core/bytes.h"

namespace hindsight::testing {

std::span<const Check> conformance_checks() {
  static const std::vector<Check> checks = {
      {"ListsAreValid", check_lists_are_valid},
      {"FirstSlotProbabilitiesSumToOne", check_first_slots},
      {"AListHasTheProbabilityWithWhichItWasDrawn", check_list_probability},
      {"PropensitiesSumToOneAndMatchTheDraws", check_list_law, true},
      {"TheWholeLibraryIsRanked", check_whole_library},
      {"DrawsFromTheWholeLibraryFollowTheirLaw", check_library_law, true},
      {"RankIsPure", check_rank_is_pure},
      {"ConcurrentRanksAgree", check_concurrent_ranks},
      {"SameSeedSameListsOnEverySimdTarget", check_same_bits},
      {"SaveLoadContinueEqualsContinue", check_save_load_continue},
      {"DamagedSavesAreRefused", check_damaged_saves},
      {"LateDuplicateAndOutOfOrderFeedbackIsSafe", check_odd_feedback},
      {"GrowsAndShrinksByItems", check_growth},
      {"RefusesBadInputAndChangesNothing", check_bad_input},
  };
  return checks;
}

World life_of(const Subject& subject, std::uint64_t seed, std::size_t max_candidates) {
  return World({.seed = seed,
                .learns = subject.learns,
                .max_candidates = max_candidates,
                .whole_library = subject.sublinear,
                .context_keys = subject.context_keys});
}

std::vector<std::byte> saved(const Ranker& ranker) {
  ByteWriter out;
  ranker.save(out);
  return out.take();
}

std::unique_ptr<Ranker> reloaded(const Subject& subject, const Ranker& ranker) {
  const auto bytes = saved(ranker);
  auto copy = subject.make();
  ByteReader in(bytes);
  if (!copy->load(in).ok()) {
    return nullptr;
  }
  return copy;
}

std::string difference(const Decision& a, const Decision& b) {
  const auto same_features = [](const FeatureRows& x, const FeatureRows& y) {
    return x.dense_dim == y.dense_dim && x.dense == y.dense && x.row_begin == y.row_begin &&
           x.sparse_index == y.sparse_index && x.sparse_value == y.sparse_value;
  };
  if (a.id != b.id || a.time_ms != b.time_ms || a.user != b.user || a.session != b.session ||
      a.group != b.group || a.context_key != b.context_key) {
    return "the request's fields";
  }
  if (a.ranker != b.ranker || a.model_version != b.model_version) {
    return "ranker or version";
  }
  if (a.items != b.items || a.shown_count != b.shown_count || a.choice_set != b.choice_set) {
    return "items";
  }
  if (a.score != b.score) {
    return "score";
  }
  if (a.prob_first != b.prob_first) {
    return "prob_first";
  }
  if (a.prior != b.prior || !same_features(a.features, b.features)) {
    return "prior or features";
  }
  if (a.log_propensity != b.log_propensity) {
    return "log_propensity";
  }
  return a.aux != b.aux ? "aux" : "";
}

}  // namespace hindsight::testing
