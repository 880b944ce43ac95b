#include "src/rankers/category_ranking.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/kernels.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {
namespace {

constexpr double kLargestWeight = 1e100;

class CategoryRanking final : public ScoredRanker {
 public:
  CategoryRanking(ChoiceSet choice_set, double margin)
      : ScoredRanker(
            {.name = "category-ranking", .law = ListLaw::kDeterministic, .choice_set = choice_set}),
        margin_(margin) {}

  Description describe() const override {
    return {{"items", std::to_string(items_live())},
            {"clicks learned", std::to_string(clicks_)},
            {"clicks that changed the weights", std::to_string(updates_)}};
  }
  double item_score(ItemIndex item) const override { return weights_[item]; }

 protected:
  void score(const Request& request, const Signals& /*signals*/, const FeatureRows& /*features*/,
             std::span<double> out) const override {
    gather_scaled(weights_, request.candidates, 1.0, out);
  }

  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    const std::size_t n = decision.items.size();
    std::vector<double> weights(n);
    gather_scaled(weights_, decision.items, 1.0, weights);
    std::vector<double> scores(n);
    std::vector<double> change(n);
    std::uint64_t updates = 0;
    for (const ItemIndex item : feedback.clicked) {
      scores = weights;
      add_prior(decision.prior, scores);
      const std::size_t picked = place_of(decision, item);
      category_projection(scores, picked, margin_, change);
      for (std::size_t i = 0; i < n; ++i) {
        weights[i] += change[i];
        // A weight follows the priors it has to outdo, and shall never overflow.
        if (!(std::abs(weights[i]) <= kLargestWeight)) {
          return Error{ErrorCode::kNotFinite, "a prior is too large to learn from", "prior"};
        }
      }
      updates += change[picked] > 0.0 ? 1 : 0;
    }
    for (std::size_t i = 0; i < n; ++i) {
      weights_[decision.items[i]] = weights[i];
    }
    const auto learned = static_cast<std::uint32_t>(feedback.clicked.size());
    count_up(clicks_, learned);
    count_up(updates_, updates);
    return LearnReport{.learned = learned};
  }

  void do_add_items(std::span<const Item> /*items*/) override {
    weights_.resize(items_added(), 0.0);
  }

  void do_save(ByteWriter& out) const override {
    out.put(weights_);
    out.put(clicks_);
    out.put(updates_);
  }

  Result<void> do_load(ByteReader& in) override {
    in.get(weights_);
    in.get(clicks_);
    in.get(updates_);
    HINDSIGHT_RETURN_IF_ERROR(in.check("weights"));
    if (weights_.size() != items_added() || !all_finite(weights_) || updates_ > clicks_ ||
        clicks_ > kMaxCount) {
      return Error{ErrorCode::kCorrupt, "the saved weights do not fit the items", "weights"};
    }
    return {};
  }

 private:
  double margin_;
  std::vector<double> weights_;
  std::uint64_t clicks_ = 0;
  std::uint64_t updates_ = 0;
};

}  // namespace

// The solution caps every other weight at a level c and raises the picked one to c + margin.
// Setting the derivative of the squared change to zero gives: raise = sum of what is cut off,
//   c + margin - w[picked] = sum_i max(0, w_i - c),
// increasing on the left, decreasing on the right: c is found by walking down the sorted weights.
void category_projection(std::span<const double> w, std::size_t picked, double margin,
                         std::span<double> change) {
  HINDSIGHT_CHECK(picked < w.size() && change.size() == w.size() && margin > 0.0);
  std::fill(change.begin(), change.end(), 0.0);
  const double level =
      w[picked] - margin;     // where the cap would be without raising the picked item
  std::vector<double> above;  // the weights that stand too high
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (i != picked && w[i] > level) {
      above.push_back(w[i]);
    }
  }
  if (above.empty()) {
    return;
  }
  std::sort(above.begin(), above.end(), std::greater<>());
  // With the j highest cut: c = (level + sum of the j) / (j + 1); right when the next one is not
  // above c.
  double sum = 0.0;
  double cap = level;
  for (std::size_t j = 0; j < above.size(); ++j) {
    sum += above[j];
    cap = (level + sum) / static_cast<double>(j + 2);
    if (j + 1 == above.size() || above[j + 1] <= cap) {
      break;
    }
  }
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (i != picked && w[i] > cap) {
      change[i] = cap - w[i];
    }
  }
  change[picked] = cap - level;
}

RankerInfo category_ranking_info() {
  return {
      .name = "category-ranking",
      .summary = "Category Ranking: the smallest change that makes the pick lead by a margin",
      .paper = "[CrammerSinger05]; [Delage09] 5.1",
      .guarantee =
          "a worst-case bound on the sum of rank losses when some weights rank every pick first; "
          "no regret bound",
      .assumptions = "one weight per item; separable choices",
      .law = ListLaw::kDeterministic,
      .params = {{.name = "margin",
                  .default_value = 1.0,
                  .help = "by how much the picked item shall lead",
                  .minimum = 0.0,
                  .minimum_excluded = true,
                  .maximum = 1e6},
                 choice_set_spec()},
      .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
        return std::unique_ptr<Ranker>(
            std::make_unique<CategoryRanking>(choice_set_of(params), number(params, "margin")));
      }};
}

}  // namespace hindsight
