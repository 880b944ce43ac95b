// ClickModel: how a user clicks in a list, with everything that an experiment may know exactly.
//
// The probability of a click factors ([Li19] Eq. 2): v(A, k) = chi(A, k) alpha(A(k)), with the
// examination chi of a place and the attractiveness alpha of an item. The models differ in chi:
//
//   document    chi = 1
//   position    chi = bias[k], any vector of probabilities
//   cascade     the user reads from the top and stops after the first click
//   dependent   after a click at place k the user goes on with probability go_on[k]
//   impatient   after an item at place k that is passed over, the user goes on with go_on[k]
//
// Which of the assumptions of [Li19] hold (tests/sim/click_model_test.cc):
//
//                                        document  position        cascade  dependent impatient
//   1  only the set above a place counts yes       yes             yes      constant go_on constant
//   2  chi falls along the list          yes       falling bias    yes      yes              yes
//   3  chi is least on A*                yes       yes             yes      constant go_on   no
//
// A counter-example for the first: dependent clicks with go_on = (1, 0, ...) and the items of
// attractiveness 0.9 and 0.1 on top. In this order the third place is read with probability
// 1 - 0.1 = 0.9, in the other with 1 - 0.9 = 0.1. For the third: an impatient user reads a list of
// attractive items further than one of dull ones.
//
// Thread-safety: constant after it was made.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"
#include "hindsight/types.h"

namespace hindsight {

enum class ClickKind : std::uint8_t { kDocument, kPosition, kCascade, kDependent, kImpatient };

/// "document", "position", ...: as experiments call them.
std::string_view click_kind_name(ClickKind kind);

struct ClickModelParams {
  ClickKind kind = ClickKind::kDocument;
  std::size_t positions = 0;            // K, at most kMaxPositions
  std::vector<double> attraction = {};  // alpha of each of the L items
  std::vector<double> bias = {};        // position: one per place
  std::vector<double> go_on = {};       // dependent, impatient: one per place
};

class ClickModel {
 public:
  static constexpr std::size_t kMaxPositions = 64;

  /// FAILS: kInvalidArgument (K = 0, K > L, vectors of the wrong length, probabilities outside
  /// [0, 1]), kTooLarge (K), kNotFinite
  static Result<ClickModel> make(ClickModelParams params);

  ClickKind kind() const { return params_.kind; }
  std::size_t positions() const { return params_.positions; }
  std::size_t items() const { return params_.attraction.size(); }
  double attraction(ItemIndex item) const { return params_.attraction[item]; }

  // A list has K distinct items in all that follows.

  /// chi(A, k), places counted from 0. REQUIRES: k <= K
  double examination(std::span<const ItemIndex> list, std::size_t k) const;
  /// The expected number of clicks, sum_k v(A, k).
  double reward(std::span<const ItemIndex> list) const;
  /// One user's clicks: bit k is a click at place k. Bits that are not in `wanted` are 0, and are
  /// not drawn where the others do not depend on them.
  std::uint64_t draw(std::span<const ItemIndex> list, std::uint64_t wanted, Rng& rng) const;

  /// A*: the K most attractive items, best first; equals by index.
  const std::vector<ItemIndex>& most_attractive() const { return most_attractive_; }
  /// What regret is counted against ([Li19] Remark 2): the reward of A*.
  double target() const { return target_; }
  double regret(std::span<const ItemIndex> list) const { return target_ - reward(list); }

  /// A list of the largest reward, which need not be A*. FAILS: kTooLarge (where nothing better
  /// than a search is known, and there are more than 6 places)
  Result<std::vector<ItemIndex>> optimal_list() const;

 private:
  explicit ClickModel(ClickModelParams params);

  /// The probability to go on from place k, given that it was read.
  double onward(double attraction, std::size_t k) const {
    return attraction * after_click_[k] + (1.0 - attraction) * after_pass_[k];
  }
  std::vector<ItemIndex> search() const;

  ClickModelParams params_;
  std::vector<double> after_click_;  // the probability to go on, of models that read downwards
  std::vector<double> after_pass_;
  std::vector<ItemIndex> most_attractive_;
  double target_ = 0.0;
};

}  // namespace hindsight
