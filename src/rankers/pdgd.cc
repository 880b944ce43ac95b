#include "src/rankers/pdgd.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/feature_weights.h"
#include "src/core/kernels.h"
#include "src/core/pairwise_preferences.h"
#include "src/core/scratch.h"
#include "src/rankers/feature_source.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {
namespace {

constexpr const char* kName = "pdgd";
// Weights beyond this would turn scores into what no decision may hold.
constexpr double kRadius = 1e4;
constexpr double kNoWeight = 1e6;  // so far below the best, e^score is 0

class Pdgd final : public ScoredRanker {
 public:
  Pdgd(ChoiceSet choice_set, double step, double feature_bound)
      : ScoredRanker({.name = kName, .law = ListLaw::kWholeList, .choice_set = choice_set}),
        step_(step),
        source_(feature_bound) {}

  Description describe() const override {
    return {{"items", std::to_string(items_live())},
            {"feature columns", std::to_string(weights_.columns().total())},
            {"lists learned from", std::to_string(lists_)},
            {"length of the weights", pretty(weights_.norm())}};
  }
  std::size_t memory_bytes() const override {
    return Ranker::memory_bytes() + source_.memory_bytes();
  }
  double item_score(ItemIndex item) const override {
    double score = 0.0;
    weights_.scores(source_.rows_of(std::span(&item, 1)), std::span(&score, 1));
    return score;
  }

 protected:
  Result<FeatureRows> collect_features(const Request& request) const override {
    return source_.collect(request);
  }
  void score(const Request& /*request*/, const Signals& /*signals*/, const FeatureRows& features,
             std::span<double> out) const override {
    weights_.scores(features, out);
  }
  /// What the law of the list needs of the candidates that were not shown.
  std::vector<std::byte> aux_of(std::span<const double> scores,
                                std::span<const std::uint32_t> shown) const override {
    const double shift = max_of(scores);
    Scratch<double> scratch(scores.size());
    const std::span<double> rest = scratch.values();
    std::copy(scores.begin(), scores.end(), rest.begin());
    for (const std::uint32_t i : shown) {
      rest[i] = shift - kNoWeight;
    }
    ByteWriter out;
    out.reserve(2 * sizeof(double));
    out.put(shift);
    out.put(exp_shifted(rest, shift, rest));
    return out.take();
  }

  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    const auto clicks = static_cast<std::uint32_t>(feedback.clicked.size());
    if (decision.ranker != kName) {  // without the law of its draw, a list cannot be weighed
      return LearnReport{.learned = 0, .ignored = clicks};
    }
    const std::size_t shown = decision.shown_count;
    HINDSIGHT_RETURN_IF_ERROR(
        source_.check_rows(decision.features, decision.items.size(), "decision.items"));
    HINDSIGHT_ASSIGN_OR_RETURN(const ShownLaw law, law_of(decision));
    if (!feedback.closed) {  // what will not be clicked is not known yet
      return LearnReport{.learned = 0, .ignored = clicks};
    }
    std::vector<std::uint32_t> places = places_of(decision, feedback.clicked);
    std::sort(places.begin(), places.end());
    Scratch<double> scratch(decision.items.size());
    const std::span<double> all_scores = scratch.values();
    weights_.scores(decision.features, all_scores);
    const std::span<double> scores = all_scores.first(shown);
    add_prior(decision.prior, scores);
    std::vector<double> slopes = preference_slopes(law, scores, places);
    for (double& slope : slopes) {
      slope *= step_;
    }
    weights_.grow(columns_of(decision.features));
    weights_.add_rows(decision.features, slopes,
                      {.kind = WeightSpace::Kind::kBall, .radius = kRadius});
    count_up(lists_);
    return LearnReport{.learned = clicks};
  }

  Result<void> check_items(std::span<const Item> items) const override {
    return source_.check_items(items);
  }
  void do_add_items(std::span<const Item> items) override { source_.put(items); }
  void do_save(ByteWriter& out) const override {
    weights_.save(out);
    source_.save(out);
    out.put(lists_);
  }
  Result<void> do_load(ByteReader& in) override {
    HINDSIGHT_RETURN_IF_ERROR(weights_.load(in));
    HINDSIGHT_RETURN_IF_ERROR(source_.load(in));
    in.get(lists_);
    HINDSIGHT_RETURN_IF_ERROR(in.check("lists"));
    if (source_.size() != items_added() || lists_ > kMaxCount || weights_.norm() > 2.0 * kRadius) {
      return Error{ErrorCode::kCorrupt, "the saved model's parts do not fit together", ""};
    }
    return {};
  }

 private:
  /// FAILS: kInvalidArgument (aux that does not fit the decision)
  static Result<ShownLaw> law_of(const Decision& decision) {
    ByteReader in(decision.aux);
    ShownLaw law{.scores = std::span(decision.score).first(decision.shown_count)};
    in.get(law.shift);
    in.get(law.rest);
    const bool fits = in.ok() && in.left() == 0 && std::isfinite(law.shift) && law.rest >= 0.0 &&
                      std::isfinite(law.rest) && max_of(law.scores) <= law.shift;
    if (!fits) {
      return Error{ErrorCode::kInvalidArgument, "aux does not fit the scores", "decision.aux"};
    }
    return law;
  }

  double step_;
  FeatureSource source_;
  FeatureWeights weights_;
  std::uint64_t lists_ = 0;
};

}  // namespace

RankerInfo pdgd_info() {
  return {
      .name = kName,
      .summary =
          "Pairwise differentiable gradient descent: draws the list, and moves the features' "
          "weights towards the clicked of each pair, freed from the list's position bias",
      .paper = "[Oosterhuis18] Algorithm 1",
      .guarantee =
          "none on regret; the expected step prefers the more relevant of two documents, wherever "
          "the list put them ([Oosterhuis18] Theorem 4.1)",
      .assumptions =
          "clicks depend on a document's relevance and on its place, or on what was clicked above "
          "it; every item has features",
      .learns = Learns::kOnClose,
      .law = ListLaw::kWholeList,
      .params = {{.name = "step",
                  .default_value = 0.1,
                  .help = "eta: size of a step",
                  .minimum = 0.0,
                  .minimum_excluded = true,
                  .maximum = 100.0},
                 feature_bound_spec(),
                 choice_set_spec()},
      .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
        return std::unique_ptr<Ranker>(std::make_unique<Pdgd>(
            choice_set_of(params), number(params, "step"), number(params, "feature_bound")));
      }};
}

}  // namespace hindsight
