#include "src/sim/retrieval_duels.h"

#include <algorithm>

#include "hindsight/signals.h"
#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"
#include "src/core/unit_vector.h"

namespace hindsight {
namespace {

constexpr double kLinkFactor = 10.0;  // [Yue09] 5.2
constexpr WeightSpace kSphere{.kind = WeightSpace::Kind::kSphere};
constexpr std::uint64_t kProgressEvery = 1 << 12;
constexpr std::size_t kShown = RetrievalSet::kDepth;

/// NDCG of the current weights, computed once per query until the weights move.
class CurrentNdcg {
 public:
  explicit CurrentNdcg(const RetrievalSet& set)
      : set_(set), value_(set.queries()), version_(set.queries(), 0) {}

  void forget() { ++now_; }
  double of(std::size_t query, std::span<const double> weights) {
    if (version_[query] != now_) {
      version_[query] = now_;
      value_[query] = set_.ndcg_of_weights(query, weights, scratch_);
    }
    return value_[query];
  }

 private:
  const RetrievalSet& set_;
  std::vector<double> value_;
  std::vector<std::uint64_t> version_;
  std::uint64_t now_ = 1;
  std::vector<double> scratch_;
};

void tell(const RoundsDone& progress, std::uint64_t round, std::uint64_t rounds) {
  if (progress && (round % kProgressEvery == 0 || round == rounds)) {
    const std::uint64_t rest = round % kProgressEvery;
    progress(rest == 0 ? kProgressEvery : rest);
  }
}

}  // namespace

Result<LinkDuelResult> run_link_duels(const RetrievalSet& train, const LinkDuelParams& params,
                                      const RoundsDone& progress) {
  if (params.rounds == 0 || params.samples == 0) {
    return Error{ErrorCode::kInvalidArgument, "must be at least 1",
                 params.rounds == 0 ? "rounds" : "samples"};
  }
  Rng rng(params.seed, params.stream);
  LinkDuelResult result;
  result.weights.resize(train.dim());
  std::vector<double> direction(train.dim());
  std::vector<double> rival(train.dim());
  std::vector<double> scratch;
  draw_unit_vector(rng, result.weights);
  CurrentNdcg current(train);
  double sum = 0.0;
  std::int64_t lead = 0;
  for (std::uint64_t round = 0; round < params.rounds; ++round) {
    if (round % params.samples == 0) {
      draw_unit_vector(rng, direction);
      move_along(kSphere, result.weights, direction, params.steps.probe, rival);
      lead = 0;
    }
    const std::uint32_t query = train.judged()[rng.below(train.judged().size())];
    const double now = current.of(query, result.weights);
    const double other = train.ndcg_of_weights(query, rival, scratch);
    sum += now;
    lead += rng.uniform() < det_logistic(kLinkFactor * (other - now)) ? 1 : -1;
    if ((round + 1) % params.samples == 0 && lead > 0) {
      move_along(kSphere, result.weights, direction, params.steps.step, result.weights);
      current.forget();
    }
    tell(progress, round + 1, params.rounds);
  }
  result.average_ndcg = sum / static_cast<double>(params.rounds);
  return result;
}

namespace {

Result<void> add_documents(Ranker& ranker, const RetrievalSet& set) {
  std::vector<Item> items(set.documents());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto row = set.row(i);
    items[i].index = static_cast<ItemIndex>(ranker.items_added() + i);
    items[i].dense.assign(row.begin(), row.end());
  }
  return ranker.add_items(items);
}

/// NDCG@10 of the ranker's own scores, on documents that were added from `first` on.
double judge(const Ranker& ranker, const RetrievalSet& set, std::size_t first) {
  double sum = 0.0;
  std::vector<double> scores;
  for (const std::uint32_t query : set.judged()) {
    scores.resize(set.size(query));
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = ranker.item_score(static_cast<ItemIndex>(first + set.begin(query) + i));
    }
    sum += set.ndcg(query, scores);
  }
  return sum / static_cast<double>(set.judged().size());
}

/// One list, one user.
class Shop {
 public:
  Shop(Ranker& ranker, const RetrievalSet& train, const GradedClicks& users,
       const ClickRunParams& params)
      : ranker_(ranker),
        train_(train),
        users_(users),
        params_(params),
        rng_(params.seed, params.stream) {}

  Result<void> serve(std::uint64_t round) {
    const auto query = static_cast<std::size_t>(rng_.below(train_.queries()));
    const auto first = static_cast<ItemIndex>(train_.begin(query));
    candidates_.resize(train_.size(query));
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      candidates_[i] = first + static_cast<ItemIndex>(i);
    }
    Request request;
    request.decision = {.source = params_.stream, .counter = round};
    request.candidates = candidates_;
    // A list of one teaches nothing, but a query of one document has no other.
    request.k = std::min(kShown, candidates_.size());
    Rng draw = Rng::for_decision(params_.seed, request.decision);
    HINDSIGHT_ASSIGN_OR_RETURN(const Decision decision, ranker_.rank(request, signals_, draw));
    grades_.clear();
    for (const ItemIndex item : decision.shown()) {
      grades_.push_back(train_.grades(query)[item - first]);
    }
    Feedback feedback{.decision = request.decision, .closed = true};
    for (const std::uint32_t place : users_.draw(grades_, rng_)) {
      feedback.clicked.push_back(decision.items[place]);
    }
    HINDSIGHT_RETURN_IF_ERROR(ranker_.learn(decision, feedback, signals_));
    return {};
  }

 private:
  Ranker& ranker_;
  const RetrievalSet& train_;
  const GradedClicks& users_;
  const ClickRunParams& params_;
  Rng rng_;
  Signals signals_;
  std::vector<ItemIndex> candidates_;
  std::vector<double> grades_;
};

}  // namespace

Result<ClickRunResult> run_clicks(Ranker& ranker, const RetrievalSet& train,
                                  const RetrievalSet& test, const ClickRunParams& params,
                                  const RoundsDone& progress) {
  if (train.dim() != test.dim()) {
    return Error{ErrorCode::kInvalidArgument, "training and test sets have different columns",
                 "test"};
  }
  const std::size_t grades = std::max(train.max_grade(), test.max_grade());
  // Users are defined for some numbers of grades: the next larger one serves.
  HINDSIGHT_ASSIGN_OR_RETURN(const GradedClicks users,
                             GradedClicks::make(params.user, grades == 3 ? 4 : grades));
  HINDSIGHT_RETURN_IF_ERROR(add_documents(ranker, train));
  HINDSIGHT_RETURN_IF_ERROR(add_documents(ranker, test));
  ClickRunResult result;
  Shop shop(ranker, train, users, params);
  auto point = params.points.begin();
  for (std::uint64_t round = 1; round <= params.rounds; ++round) {
    HINDSIGHT_RETURN_IF_ERROR(shop.serve(round));
    if (point != params.points.end() && *point == round) {
      result.test_ndcg.push_back(judge(ranker, test, train.documents()));
      ++point;
    }
    tell(progress, round, params.rounds);
  }
  result.train_ndcg = judge(ranker, train, 0);
  result.final_ndcg = judge(ranker, test, train.documents());
  return result;
}

}  // namespace hindsight
