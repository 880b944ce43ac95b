// Bad input: each kind of it, and the error that it must get.

#include <limits>

#include "tests/support/conformance.h"
#include "tests/support/world.h"

namespace hindsight::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A ranker with five items that has learned a little, and one open decision over four of them.
struct Scene {
  std::unique_ptr<Ranker> ranker;
  Signals signals = Signals();
  std::vector<ItemIndex> candidates = {0, 1, 2, 3};
  Request request = {};
  Decision decision = {};
  Feedback feedback = {};
  std::string trouble = {};

  Scene(const Subject& subject, std::uint64_t seed) : ranker(subject.make()) {
    Rng rng(seed);
    for (ItemIndex i = 0; i < 6; ++i) {
      const Item item = World::random_item(i, rng);
      if (const auto added = ranker->add_items(std::span(&item, 1)); !added.ok()) {
        trouble = to_string(added.error());
        return;
      }
      signals.item_added(i, 0);
    }
    const ItemIndex gone = 5;
    if (const auto removed = ranker->remove_items(std::span(&gone, 1)); !removed.ok()) {
      trouble = to_string(removed.error());
      return;
    }
    for (std::uint64_t round = 1; round <= 4; ++round) {
      serve(round);
      if (!trouble.empty() || round == 4) {
        return;
      }
      if (const auto report = ranker->learn(decision, feedback, signals); !report.ok()) {
        trouble = to_string(report.error());
        return;
      }
    }
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  void serve(std::uint64_t counter) {
    request.decision = {.source = 9, .counter = counter};
    request.candidates = candidates;
    request.k = 3;
    Rng rng = Rng::for_decision(1, request.decision);
    auto made = ranker->rank(request, signals, rng);
    if (!made.ok()) {
      trouble = to_string(made.error());
      return;
    }
    decision = *std::move(made);
    feedback = {.decision = decision.id, .clicked = {decision.items[1]}, .closed = true};
  }
};

/// Collects what a bad call did wrong.
class Refusals {
 public:
  explicit Refusals(const Ranker& ranker) : ranker_(ranker), before_(saved(ranker)) {}

  template <class T>
  void expect(const char* what, ErrorCode code, const Result<T>& result) {
    if (result.ok()) {
      complain(what, "was accepted");
    } else if (result.error().code != code) {
      complain(what, "was refused as " + std::string(error_info(result.error().code).name));
    } else if (result.error().message.empty()) {
      complain(what, "was refused without a word");
    }
    expect_unchanged(what);
  }

  void expect_unchanged(const char* what) {
    if (saved(ranker_) != before_) {
      complain(what, "changed the model");
      before_ = saved(ranker_);
    }
  }

  void accept_change() { before_ = saved(ranker_); }

  void complain(const char* what, const std::string& wrong) {
    complaints_ += std::string(complaints_.empty() ? "" : "; ") + what + " " + wrong;
  }

  Verdict verdict() const { return complaints_.empty() ? Verdict() : complaints_; }

 private:
  const Ranker& ranker_;
  std::vector<std::byte> before_;
  std::string complaints_;
};

void try_bad_requests(Scene& scene, bool refuses_context_keys, Refusals& refusals) {
  const auto expect = [&](const char* what, ErrorCode code, const auto& change) {
    Request request = scene.request;
    request.decision.counter = 1000;
    change(request);
    Rng rng(1);
    refusals.expect(what, code, scene.ranker->rank(request, scene.signals, rng));
  };
  const std::vector<ItemIndex> unknown = {0, 99, 2, 3};
  const std::vector<ItemIndex> removed = {0, 5, 2, 3};
  const std::vector<ItemIndex> twice = {0, 1, 2, 0};
  const std::vector<double> short_prior = {1, 2, 3};
  expect("an empty candidate set", ErrorCode::kEmptyCandidates,
         [](Request& r) { r.candidates = {}; });
  if (refuses_context_keys) {
    expect("a context key", ErrorCode::kUnsupported, [](Request& r) { r.context_key = 1; });
  }
  expect("k = 0", ErrorCode::kInvalidArgument, [](Request& r) { r.k = 0; });
  expect("k > n", ErrorCode::kInvalidArgument, [](Request& r) { r.k = 5; });
  expect("an unknown item", ErrorCode::kUnknownItem, [&](Request& r) { r.candidates = unknown; });
  expect("a removed item", ErrorCode::kUnknownItem, [&](Request& r) { r.candidates = removed; });
  expect("an item twice", ErrorCode::kDuplicateItem, [&](Request& r) { r.candidates = twice; });
  expect("a prior too few", ErrorCode::kInvalidArgument,
         [&](Request& r) { r.prior = short_prior; });
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    const std::vector<double> bad_prior = {0, bad, 0, 0};
    expect("a prior that is not finite", ErrorCode::kNotFinite,
           [&](Request& r) { r.prior = bad_prior; });
    const FeatureRows features{.dense_dim = 1, .dense = {0, 0, bad, 0}};
    expect("a feature that is not finite", ErrorCode::kNotFinite,
           [&](Request& r) { r.features = &features; });
    const FeatureRows sparse{
        .row_begin = {0, 0, 1, 1, 1}, .sparse_index = {3}, .sparse_value = {bad}};
    expect("a sparse feature that is not finite", ErrorCode::kNotFinite,
           [&](Request& r) { r.features = &sparse; });
  }
  const std::vector<double> prior(4, 0.0);
  const FeatureRows rows{.dense_dim = 1, .dense = {0, 0, 0, 0}};
  const auto expect_library = [&](const char* what, ErrorCode code, const auto& change) {
    expect(what, code, [&](Request& r) {
      r.candidates = {};
      r.whole_library = true;
      change(r);
    });
  };
  expect_library("the library and candidates", ErrorCode::kInvalidArgument,
                 [&](Request& r) { r.candidates = scene.candidates; });
  expect_library("the library and priors", ErrorCode::kInvalidArgument,
                 [&](Request& r) { r.prior = prior; });
  expect_library("the library and features", ErrorCode::kInvalidArgument,
                 [&](Request& r) { r.features = &rows; });
  expect_library("k = 0 of the library", ErrorCode::kInvalidArgument, [](Request& r) { r.k = 0; });
  expect_library("k above the live items", ErrorCode::kInvalidArgument,
                 [](Request& r) { r.k = 6; });
  const FeatureRows short_rows{.dense_dim = 2, .dense = {0, 0, 0, 0, 0, 0}};
  expect("a row of features too few", ErrorCode::kInvalidArgument,
         [&](Request& r) { r.features = &short_rows; });
  const FeatureRows unsorted{
      .row_begin = {0, 2, 2, 2, 2}, .sparse_index = {3, 3}, .sparse_value = {0.1, 0.1}};
  expect("a sparse column twice", ErrorCode::kInvalidArgument,
         [&](Request& r) { r.features = &unsorted; });
  const FeatureRows beyond{
      .row_begin = {0, 1, 1, 1, 9}, .sparse_index = {3}, .sparse_value = {0.1}};
  expect("a sparse row beyond the end", ErrorCode::kInvalidArgument,
         [&](Request& r) { r.features = &beyond; });
}

void try_bad_feedback(Scene& scene, Refusals& refusals) {
  const auto expect = [&](const char* what, ErrorCode code, const auto& change) {
    Decision decision = scene.decision;
    Feedback feedback = scene.feedback;
    change(decision, feedback);
    refusals.expect(what, code, scene.ranker->learn(decision, feedback, scene.signals));
  };
  constexpr ErrorCode kWrong = ErrorCode::kInvalidArgument;
  expect("feedback of another decision", kWrong,
         [](Decision&, Feedback& f) { f.decision.counter += 1; });
  expect("a click on an item that was not shown", ErrorCode::kItemNotShown,
         [](Decision&, Feedback& f) { f.clicked.push_back(4); });
  expect("a click on an unknown item", ErrorCode::kItemNotShown,
         [](Decision&, Feedback& f) { f.clicked.push_back(12345); });
  expect("a grade too few", kWrong, [](Decision&, Feedback& f) { f.grades = {1, 2}; });
  expect("a grade that is not finite", ErrorCode::kNotFinite, [](Decision&, Feedback& f) {
    f.grades = {1, kNan, 2};
  });
  expect("a full order with an item twice", kWrong, [](Decision& d, Feedback& f) {
    f.full_order = {d.items[0], d.items[0], d.items[1]};
  });
  expect("a decision without items", kWrong, [](Decision& d, Feedback&) {
    d.items.clear();
    d.score.clear();
    d.prob_first.clear();
    d.prior.clear();
  });
  expect("a decision that shows nothing", kWrong,
         [](Decision& d, Feedback&) { d.shown_count = 0; });
  expect("a decision that shows more than it has", kWrong,
         [](Decision& d, Feedback&) { d.shown_count = d.items.size() + 1; });
  expect("a score too few", kWrong, [](Decision& d, Feedback&) { d.score.pop_back(); });
  expect("a probability too many", kWrong,
         [](Decision& d, Feedback&) { d.prob_first.push_back(0); });
  expect("a prior too many in the decision", kWrong,
         [](Decision& d, Feedback&) { d.prior.assign(d.items.size() + 1, 0.0); });
  expect("a score that is not finite", ErrorCode::kNotFinite,
         [](Decision& d, Feedback&) { d.score[1] = kInfinity; });
  expect("a probability that is not finite", ErrorCode::kNotFinite,
         [](Decision& d, Feedback&) { d.prob_first.assign(d.items.size(), kNan); });
  expect("a prior that is not finite in the decision", ErrorCode::kNotFinite,
         [](Decision& d, Feedback&) { d.prior.assign(d.items.size(), kNan); });
  expect("features of the decision that are not finite", ErrorCode::kNotFinite,
         [](Decision& d, Feedback&) {
           d.features = {.dense_dim = 1, .dense = std::vector<double>(d.items.size(), kNan)};
         });
  expect("features of the decision that do not fit", kWrong, [](Decision& d, Feedback&) {
    d.features = {.dense_dim = 1, .dense = std::vector<double>(d.items.size() + 1, 0.0)};
  });
  expect("an unknown item in the decision", ErrorCode::kUnknownItem,
         [](Decision& d, Feedback&) { d.items[2] = 4242; });
  expect("an item twice in the decision", ErrorCode::kDuplicateItem,
         [](Decision& d, Feedback&) { d.items[2] = d.items[0]; });
  expect("aux beyond its limit", kWrong,
         [](Decision& d, Feedback&) { d.aux.resize(Decision::kMaxAuxBytes + 1, std::byte{1}); });
  // Only the ranker knows its aux. What it refuses must leave no trace.
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, Decision::kMaxAuxBytes}) {
    Decision decision = scene.decision;
    decision.aux.assign(size, std::byte{0xA5});
    if (!scene.ranker->learn(decision, scene.feedback, scene.signals).ok()) {
      refusals.expect_unchanged("an aux of noise");
    } else {
      refusals.accept_change();
    }
  }
}

void try_bad_items(Scene& scene, Refusals& refusals) {
  Rng rng(3);
  const auto next = static_cast<ItemIndex>(scene.ranker->items_added());
  const auto expect = [&](const char* what, ErrorCode code, const auto& change) {
    // A good one goes before: all or none are added.
    std::vector<Item> items = {World::random_item(next, rng), World::random_item(next + 1, rng)};
    change(items[1]);
    refusals.expect(what, code, scene.ranker->check_add_items(items));
    refusals.expect(what, code, scene.ranker->add_items(items));
  };
  expect("a gap in the indices", ErrorCode::kInvalidArgument, [](Item& i) { i.index += 1; });
  expect("a removed item's index", ErrorCode::kUnknownItem, [](Item& i) { i.index = 5; });
  expect("a link to an unknown item", ErrorCode::kUnknownItem,
         [](Item& i) { i.links = {i.index + 7}; });
  expect("an item's feature that is not finite", ErrorCode::kNotFinite, [](Item& i) {
    i.dense = {0.1, kNan};
  });
  expect("an item's sparse feature that is not finite", ErrorCode::kNotFinite, [](Item& i) {
    i.sparse_index = {1};
    i.sparse_value = {-kInfinity};
  });
  expect("sparse parts of two sizes", ErrorCode::kInvalidArgument, [](Item& i) {
    i.sparse_index = {1, 2};
    i.sparse_value = {0.1};
  });
  expect("sparse columns out of order", ErrorCode::kInvalidArgument, [](Item& i) {
    i.sparse_index = {2, 1};
    i.sparse_value = {0.1, 0.1};
  });
  const std::vector<Item> good = {World::random_item(next, rng), World::random_item(0, rng)};
  if (!scene.ranker->check_add_items(good).ok()) {
    refusals.complain("a good item", "was refused");
  }
  refusals.expect_unchanged("checking items");
  const auto remove = [&](const char* what, ErrorCode code, std::vector<ItemIndex> items) {
    refusals.expect(what, code, scene.ranker->remove_items(items));
  };
  remove("removing an unknown item", ErrorCode::kUnknownItem, {0, 77});
  remove("removing a removed item", ErrorCode::kUnknownItem, {0, 5});
  remove("removing an item twice at once", ErrorCode::kDuplicateItem, {0, 1, 0});
}

}  // namespace

Verdict check_bad_input(const Subject& subject, std::uint64_t seed) {
  Scene scene(subject, seed);
  if (!scene.trouble.empty()) {
    return scene.trouble;
  }
  Refusals refusals(*scene.ranker);
  try_bad_requests(scene, subject.refuses_context_keys, refusals);
  try_bad_items(scene, refusals);
  try_bad_feedback(scene, refusals);
  return refusals.verdict();
}

}  // namespace hindsight::testing
