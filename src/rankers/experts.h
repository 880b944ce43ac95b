// Experts: the learners that `auto` listens to. Each gives every item of a choice set a score; its
// law of the first slot is their softmax.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/feature_learner.h"
#include "src/core/losses.h"
#include "src/rankers/signal_view.h"

namespace hindsight {

/// What an expert thought of a choice when a pick of it is learned.
struct ExpertLaw {
  std::span<const double> probs;  // the softmax of its scores, priors included
  std::size_t picked = 0;
  std::uint64_t click = 1;  // this is the click-th that is learned
};

class Expert {
 public:
  virtual ~Expert() = default;
  Expert(const Expert&) = delete;
  Expert& operator=(const Expert&) = delete;

  const std::string& name() const { return name_; }

  virtual void grow_items(std::size_t /*count*/) {}
  /// Without priors. REQUIRES: out has one place per item
  virtual void scores(const LearnerView& view, std::span<double> out) const = 0;
  /// RETURNS: the squared length of the gradient, where that is of use; else 0.
  virtual double learn(const LearnerView& /*view*/, const ExpertLaw& /*law*/) { return 0.0; }
  /// Outside any request.
  virtual double item_score(ItemIndex /*item*/) const { return 0.0; }
  virtual std::size_t memory_bytes() const { return 0; }
  /// The learner of features inside, if there is one.
  virtual const FeatureLearner* learner() const { return nullptr; }

  virtual void save(ByteWriter& /*out*/) const {}
  /// FAILS: kCorrupt
  virtual Result<void> load(ByteReader& /*in*/, std::size_t /*item_count*/) { return {}; }

 protected:
  explicit Expert(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

using Experts = std::vector<std::unique_ptr<Expert>>;

/// All experts of `auto`, of which the first is GPER KLRank with kReferenceAlpha.
Experts make_experts(const Sight& sight);
inline constexpr double kReferenceAlpha = 3.0;
inline constexpr double kFeatureBound = 1.0;  // F of KLRank on weights of items

}  // namespace hindsight
