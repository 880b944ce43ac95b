// LinearRanker: scores Phi theta, theta learned click by click by projected gradient steps
// ([Delage09] section 4).
//
// The base of NoRegret KLRank, Greedy KLRank, klrank and Online RankNet, which differ in the loss
// and in how a list is made from the scores. Phi is one weight per item, the items' features, or
// both; a request with a context key has a weight of its own for each pair of key and item besides.
//
// Thread-safety: as Ranker.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/core/ball_weights.h"
#include "src/core/choice_objective.h"
#include "src/core/feature_rows.h"
#include "src/core/library_law.h"
#include "src/core/losses.h"
#include "src/core/regret.h"
#include "src/core/step_schedule.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {

struct LinearParams {
  StepParams steps;
  bool per_item = true;           // Phi has e_i
  bool features = false;          // Phi has the items' features
  bool library = false;           // draw from the whole library without a scan
  std::size_t context_terms = 0;  // weights for pairs of a context key and an item; 0: no keys
};

class LinearRanker : public ScoredRanker {
 public:
  /// Which loss `learn` descends.
  enum class Loss : std::uint8_t { kKl, kPairwise };

  /// FAILS: as StepSchedule::make; kInvalidArgument and kUnsupported for parameters that exclude
  /// each other
  static Result<std::unique_ptr<Ranker>> make(ListOptions options, Loss loss,
                                              const ParamMap& params);

  Description describe() const override;
  double item_score(ItemIndex item) const override;
  std::size_t memory_bytes() const override;
  const RegretAccount* regret() const override { return &account_; }
  bool books_kl_cost() const override { return loss_ == Loss::kKl; }
  std::optional<Choice> choice_of(const Decision& decision, ItemIndex clicked) const override;

 protected:
  Result<FeatureRows> collect_features(const Request& request) const override;
  void score(const Request& request, const Signals& signals, const FeatureRows& features,
             std::span<double> out) const override;
  Result<Decision> do_rank_library(const Request& request, const Signals& signals,
                                   Rng& rng) const override;
  Result<ListProbability> do_library_probability(const Request& request, const Signals& signals,
                                                 std::span<const ItemIndex> list) const override;
  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& signals) override;
  Result<void> check_items(std::span<const Item> items) const override;
  void do_add_items(std::span<const Item> items) override;
  void do_remove_items(std::span<const ItemIndex> items) override;
  void do_save(ByteWriter& out) const override;
  Result<void> do_load(ByteReader& in) override;

 private:
  LinearRanker(ListOptions options, Loss loss, const LinearParams& params,
               const StepSchedule& schedule);

  /// The tree knows nothing of contexts.
  bool uses_tree(const Request& request) const {
    return library_.has_value() && request.context_key == 0;
  }
  Result<void> check_length(double squared_features, const std::string& field) const;
  ChoiceFeatures view(std::span<const ItemIndex> items, const FeatureRows& rows,
                      std::span<const std::uint32_t> slots) const;
  void learn_click(const Decision& decision, std::size_t picked);
  double served_loss(const Decision& decision, std::size_t picked);

  Loss loss_;
  LinearParams params_;
  BallWeights weights_;
  std::optional<LibraryLaw> library_;
  FeatureStore features_;
  RegretAccount account_;
  std::vector<double> scores_;  // scratch of learn
  std::vector<double> raw_;
};

/// The parameters of every ranker of this kind, with the given default for alpha.
std::vector<ParamSpec> linear_params(double default_alpha);

/// The parameter of the rankers that draw: ListOptions::redraw.
ParamSpec redraw_spec();

/// The parameter of the rankers that draw the whole list: LinearParams::library.
ParamSpec library_spec();

}  // namespace hindsight
