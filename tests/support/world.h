// World: a random life of a library that any ranker can be sent through.
//
// Items arrive, change and leave; lists are shown; clicks come at once, late, twice and out of
// order; windows close. Everything follows from the seed and from what the ranker answers, so that
// two equal rankers live the same life. A World is a value: a copy goes on from the same moment.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/ranker.h"
#include "hindsight/signals.h"

namespace hindsight::testing {

struct WorldParams {
  std::uint64_t seed = 1;
  Learns learns = Learns::kImmediate;
  std::size_t max_candidates = 12;
  bool whole_library = false;  // every third list is one of the whole library
  bool context_keys = false;   // three lists in four have one of three keys
};

/// What one step did.
struct StepOutcome {
  std::optional<Decision> decision = {};  // of a step that ranked
  std::string trouble = {};               // an answer that a valid wish must not get; empty: none
};

class World {
 public:
  explicit World(WorldParams params) : params_(params) {}

  /// The next event, folded into the ranker. REQUIRES: every step of this World so far went to this
  /// ranker or to one that is equal to it
  StepOutcome step(Ranker& ranker);

  /// RETURNS: the first trouble of so many steps; empty: none.
  std::string run(Ranker& ranker, std::size_t steps);

  const Signals& signals() const { return signals_; }
  const std::vector<ItemIndex>& live() const { return live_; }

  /// RETURNS: an item with features of length below 1 and links to earlier ones.
  static Item random_item(ItemIndex index, Rng& rng);
  /// RETURNS: one row of features per candidate, each of length below 1.
  static FeatureRows random_features(std::size_t rows, Rng& rng);

 private:
  struct Served {
    Decision decision;
    Feedback feedback = {};  // the last that was given
  };

  StepOutcome add(Ranker& ranker, Rng& rng);
  StepOutcome replace(Ranker& ranker, Rng& rng);
  StepOutcome remove(Ranker& ranker, Rng& rng);
  StepOutcome serve(Ranker& ranker, Rng& rng);
  StepOutcome answer(Ranker& ranker, Rng& rng, std::size_t at, bool with_clicks);
  StepOutcome answer_again(Ranker& ranker, Rng& rng);
  StepOutcome learn(Ranker& ranker, const Served& served);

  WorldParams params_;
  Signals signals_;
  std::vector<ItemIndex> live_;
  std::vector<Served> open_;
  std::vector<Served> answered_;
  std::uint64_t steps_ = 0;
  std::int64_t time_ms_ = 0;
};

}  // namespace hindsight::testing
