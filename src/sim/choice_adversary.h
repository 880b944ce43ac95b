// Adversaries of the choice game: who is wanted in each round ([Ailon13] section 7, and others).
//
//   uniform    k items, uniformly: the lower bound's adversary; no method can beat another
//   zipf       k distinct items, drawn one after the other with weights 1, 1/2, 1/3, ...
//   shifting   likewise, with an order of popularity that turns around half-way
//   worst      the k items that were wanted least so far: what a method that follows the counts
//              shows last
//
// An adversary knows the past and not the coins of the present round.
//
// Thread-safety: none; one owner at a time.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"

namespace hindsight {

class ChoiceAdversary {
 public:
  virtual ~ChoiceAdversary() = default;
  ChoiceAdversary(const ChoiceAdversary&) = delete;
  ChoiceAdversary& operator=(const ChoiceAdversary&) = delete;

  /// RETURNS: the k items that are wanted in this round, distinct, until the next call. `counts`:
  /// how often each was wanted before.
  virtual std::span<const std::uint32_t> choose(std::span<const double> counts, Rng& rng) = 0;

 protected:
  ChoiceAdversary() = default;
};

struct ChoiceAdversaryParams {
  std::uint32_t items = 2;
  std::uint32_t chosen = 1;  // k
  std::uint64_t rounds = 1;
};

std::span<const std::string_view> choice_adversary_names();

/// FAILS: kUnknownName, kInvalidArgument (k = 0 or k > n; no items)
Result<std::unique_ptr<ChoiceAdversary>> make_choice_adversary(std::string_view name,
                                                               const ChoiceAdversaryParams& params);

}  // namespace hindsight
