#include "src/rankers/cascade_linear.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/feature_rows.h"
#include "src/core/item_vectors.h"
#include "src/core/kernels.h"
#include "src/core/ridge_estimate.h"
#include "src/core/sorted_policy.h"
#include "src/core/vector_set.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {
namespace {

/// Of the length of a feature vector.
constexpr double kMostSquared = ItemVectors::kMaxLength * ItemVectors::kMaxLength;

struct CascadeParams {
  double c = 1.0;
  std::uint64_t horizon = 0;  // 0: c is as given
};

/// Calls visit(sparse, index, value) for every feature of row i that is not zero.
template <class Visit>
void for_row(const FeatureRows& rows, std::size_t i, Visit visit) {
  for (std::size_t c = 0; c < rows.dense_dim; ++c) {
    if (const double value = rows.dense[i * rows.dense_dim + c]; value != 0.0) {
      visit(false, static_cast<std::uint32_t>(c), value);
    }
  }
  for (std::size_t at = rows.row_begin.empty() ? 0 : rows.row_begin[i];
       !rows.row_begin.empty() && at < rows.row_begin[i + 1]; ++at) {
    if (rows.sparse_value[at] != 0.0) {
      visit(true, rows.sparse_index[at], rows.sparse_value[at]);
    }
  }
}

/// What both rankers share: features, the estimate, and how it learns.
class CascadeModel {
 public:
  explicit CascadeModel(const CascadeParams& params) : params_(params) {}

  const RidgeEstimate& estimate() const { return estimate_; }
  double width() const {
    return params_.horizon > 0 && estimate_.dim() > 0
               ? proven_width(estimate_.dim(), params_.horizon)
               : params_.c;
  }

  Result<void> check_items(std::span<const Item> items) const { return vectors_.check(items); }
  void add_items(std::span<const Item> items) {
    for (const Item& item : items) {
      store_.put(item);
      vectors_.put(item);
    }
  }

  /// One row per candidate. FAILS: kFeatureTooLong
  Result<FeatureRows> collect(const Request& request) const {
    if (request.features == nullptr) {
      return store_.rows_of(request.candidates);
    }
    for (std::size_t i = 0; i < request.candidates.size(); ++i) {
      const double squared = squared_row_norm(*request.features, i);
      const std::string field = "candidates[" + std::to_string(i) + "].features";
      if (!(squared <= kMostSquared)) {
        return Error{ErrorCode::kFeatureTooLong, "the length must be at most 1000000; scale them",
                     field};
      }
    }
    return *request.features;
  }

  /// The rows as vectors of numbered columns, and the estimate with as many dimensions: of columns
  /// that it has not met nothing is known.
  struct View {
    VectorSet set;
    RidgeEstimate estimate;
  };
  View view(const FeatureRows& rows, std::size_t count) const {
    ColumnNumbers columns = columns_;
    for (std::size_t i = 0; i < count; ++i) {
      for_row(rows, i, [&](bool sparse, std::uint32_t index, double /*value*/) {
        if (columns.size() < ColumnNumbers::kMax) {
          columns.number(sparse, index);
        }
      });
    }
    View made{.set = VectorSet(count, std::max<std::size_t>(columns.size(), 1)),
              .estimate = estimate_};
    made.estimate.grow(made.set.dim);
    for (std::size_t i = 0; i < count; ++i) {
      for_row(rows, i, [&](bool sparse, std::uint32_t index, double value) {
        const std::size_t column = columns.find(sparse, index);
        if (column < ColumnNumbers::kMax) {
          made.set.at(i, column) = value;
        }
      });
    }
    return made;
  }

  /// FAILS: kFeatureTooLong (a decision that this ranker has not made)
  Result<LearnReport> learn(const Decision& decision, const Feedback& feedback) {
    // A list of another ranker may not have said which features it used.
    const FeatureRows rows =
        decision.features.empty() ? store_.rows_of(decision.shown()) : decision.features;
    for (std::size_t i = 0; i < decision.shown_count; ++i) {
      if (!(squared_row_norm(rows, i) <= kMostSquared)) {
        return Error{ErrorCode::kFeatureTooLong, "no list was made of features as long as these",
                     "decision.features"};
      }
    }
    const auto clicks = static_cast<std::uint32_t>(feedback.clicked.size());
    if (!feedback.closed) {  // what is not clicked yet may still be
      return LearnReport{.ignored = clicks};
    }
    std::size_t last = decision.shown_count;
    for (const ItemIndex item : feedback.clicked) {
      last = std::min(last, place_of(decision, item));
    }
    for (std::size_t i = 0; i < decision.shown_count && i <= last; ++i) {
      std::vector<double> x;
      for_row(rows, i, [&](bool sparse, std::uint32_t index, double value) {
        if (columns_.size() < ColumnNumbers::kMax ||
            columns_.find(sparse, index) < ColumnNumbers::kMax) {
          const std::size_t column = columns_.number(sparse, index);
          x.resize(std::max(x.size(), column + 1), 0.0);
          x[column] = value;
        }
      });
      estimate_.grow(columns_.size());
      estimate_.add(x, i == last ? 1.0 : 0.0);
    }
    estimate_.refresh();
    const std::uint32_t used = clicks > 0 ? 1 : 0;
    return LearnReport{.learned = used, .ignored = clicks - used};
  }

  /// The estimate of an item's worth by its own features.
  double worth(ItemIndex item) const {
    const FeatureRows rows = store_.rows_of(std::span(&item, 1));
    double sum = 0.0;
    for_row(rows, 0, [&](bool sparse, std::uint32_t index, double value) {
      const std::size_t column = columns_.find(sparse, index);
      sum += column < estimate_.dim() ? estimate_.theta()[column] * value : 0.0;
    });
    return sum;
  }

  std::size_t memory_bytes() const {
    return store_.memory_bytes() + vectors_.memory_bytes() + estimate_.memory_bytes();
  }
  Description describe(std::size_t items) const {
    return {{"items", std::to_string(items)},
            {"features", std::to_string(estimate_.dim())},
            {"items examined", std::to_string(estimate_.count())},
            {"width of the bonus", pretty(width())}};
  }

  void save(ByteWriter& out) const {
    store_.save(out);
    vectors_.save(out);
    columns_.save(out);
    estimate_.save(out);
  }
  Result<void> load(ByteReader& in, std::size_t items) {
    HINDSIGHT_RETURN_IF_ERROR(store_.load(in));
    HINDSIGHT_RETURN_IF_ERROR(vectors_.load(in));
    HINDSIGHT_RETURN_IF_ERROR(columns_.load(in));
    HINDSIGHT_RETURN_IF_ERROR(estimate_.load(in));
    const bool fits =
        store_.size() == items && vectors_.size() == items && estimate_.dim() == columns_.size();
    return fits ? Result<void>()
                : Error{ErrorCode::kCorrupt, "the saved estimate does not fit the items",
                        "estimate"};
  }

 private:
  CascadeParams params_;
  FeatureStore store_;
  ItemVectors vectors_;    // keeps count of the items' columns
  ColumnNumbers columns_;  // of the estimate
  RidgeEstimate estimate_;
};

class CascadeLinUcb final : public ScoredRanker {
 public:
  explicit CascadeLinUcb(const CascadeParams& params)
      : ScoredRanker({.name = "cascade-linucb",
                      .law = ListLaw::kDeterministic,
                      .choice_set = ChoiceSet::kShown,
                      .needs_choice = false}),
        model_(params) {}

  Description describe() const override { return model_.describe(items_live()); }
  double item_score(ItemIndex item) const override { return model_.worth(item); }
  std::size_t memory_bytes() const override {
    return Ranker::memory_bytes() + model_.memory_bytes();
  }

 protected:
  Result<FeatureRows> collect_features(const Request& request) const override {
    return model_.collect(request);
  }
  void score(const Request& /*request*/, const Signals& /*signals*/, const FeatureRows& features,
             std::span<double> out) const override {
    const CascadeModel::View view = model_.view(features, out.size());
    upper_bounds_of(view.set, view.estimate.theta(), view.estimate.whitening(), model_.width(), 1.0,
                    out);
  }
  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    return model_.learn(decision, feedback);
  }
  Result<void> check_items(std::span<const Item> items) const override {
    return model_.check_items(items);
  }
  void do_add_items(std::span<const Item> items) override { model_.add_items(items); }
  void do_save(ByteWriter& out) const override { model_.save(out); }
  Result<void> do_load(ByteReader& in) override { return model_.load(in, items_added()); }

 private:
  CascadeModel model_;
};

class CascadeLinTs final : public Ranker {
 public:
  explicit CascadeLinTs(const CascadeParams& params) : model_(params) {}

  Description describe() const override { return model_.describe(items_live()); }
  double item_score(ItemIndex item) const override { return model_.worth(item); }
  std::size_t memory_bytes() const override {
    return Ranker::memory_bytes() + model_.memory_bytes();
  }

 protected:
  /// How likely a list is, is an integral over all theta that nobody can write down: no law is
  /// given.
  Result<Decision> do_rank(const Request& request, const Signals& /*signals*/,
                           Rng& rng) const override {
    HINDSIGHT_ASSIGN_OR_RETURN(const FeatureRows features, model_.collect(request));
    const std::size_t n = request.candidates.size();
    const CascadeModel::View view = model_.view(features, n);
    std::vector<double> scores(n);
    products_of(view.set, view.estimate.sample(model_.width(), rng), scores);
    add_prior(request.prior, scores);
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> order,
                               sort_with_random_ties(scores, request.k, rng));
    Decision decision;
    decision.ranker = "cascade-lints";
    decision.shown_count = request.k;
    write_candidates(request, scores, features, !request.prior.empty(), order, decision);
    return decision;
  }
  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    return model_.learn(decision, feedback);
  }
  Result<void> check_items(std::span<const Item> items) const override {
    return model_.check_items(items);
  }
  void do_add_items(std::span<const Item> items) override { model_.add_items(items); }
  void do_save(ByteWriter& out) const override { model_.save(out); }
  Result<void> do_load(ByteReader& in) override { return model_.load(in, items_added()); }

 private:
  CascadeModel model_;
};

std::vector<ParamSpec> cascade_params(std::string_view help) {
  return {{.name = "c", .default_value = 1.0, .help = help, .minimum = 0.0, .maximum = 1e6},
          horizon_spec("number of rounds to come, from which c follows; 0: c is as given")};
}

CascadeParams parsed(const ParamMap& params) {
  return {.c = number(params, "c"),
          .horizon = static_cast<std::uint64_t>(number(params, "horizon"))};
}

}  // namespace

RankerInfo cascade_linucb_info() {
  return {.name = "cascade-linucb",
          .summary = "CascadeLinUCB: sorts by the most that an item's features may be worth",
          .paper = "[Li16], [Zong16]",
          .guarantee =
              "expected regret of O(d sqrt(T K) log T) in the probability of a click, with "
              "a horizon; with c as given, none",
          .assumptions =
              "cascade clicks: the user reads from the top and stops at the first click; "
              "attractiveness linear in the features",
          .learns = Learns::kOnClose,
          .law = ListLaw::kDeterministic,
          .params = cascade_params("width of the bonus for what is not well known"),
          .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
            return std::unique_ptr<Ranker>(std::make_unique<CascadeLinUcb>(parsed(params)));
          }};
}

RankerInfo cascade_lints_info() {
  return {.name = "cascade-lints",
          .summary = "CascadeLinTS: sorts by weights of features drawn from what is known of them",
          .paper = "[Zong16]",
          .guarantee = "none",
          .assumptions =
              "cascade clicks: the user reads from the top and stops at the first click; "
              "attractiveness linear in the features",
          .learns = Learns::kOnClose,
          .law = ListLaw::kNotStated,
          .params = cascade_params("width of the law that weights are drawn from"),
          .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
            return std::unique_ptr<Ranker>(std::make_unique<CascadeLinTs>(parsed(params)));
          }};
}

}  // namespace hindsight
