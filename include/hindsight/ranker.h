// Ranker: the one interface of every ranking algorithm.
//
//   rank:  (model, request, signals, random numbers) -> decision     pure
//   learn: (model, decision, feedback, signals)      -> model        deterministic
//
// The public functions check their input once, here; algorithms implement the protected ones and
// may rely on what was checked. A call that returns an error has changed nothing.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/params.h"
#include "hindsight/result.h"
#include "hindsight/types.h"

namespace hindsight {

class ByteReader;
class ByteWriter;
class RegretAccount;
class Signals;
struct Choice;

/// When feedback reaches `learn`.
enum class Learns : std::uint8_t {
  kImmediate,  // each distinct clicked item once, as it comes, in log order
  kOnClose,    // once, when the decision's window has closed
};

/// What one call of `learn` did.
struct LearnReport {
  std::uint32_t learned = 0;  // clicks that moved the model
  std::uint32_t ignored =
      0;  // valid clicks that this ranker does not use, or that came too late for it
};

/// Costs and bounds of a ranker with a regret bound, over all clicks that it learned
/// (docs/klrank.md).
struct RegretSummary {
  std::uint64_t clicks = 0;
  double learned_cost =
      0.0;  // under the law held when each click was learned: the bounds are for this
  double served_cost = 0.0;    // under the law that was served
  double theorem_bound = 0.0;  // on learned_cost minus that of the best fixed policy in hindsight
  double data_bound = 0.0;     // the same, with the steps and gradients that occurred

  friend bool operator==(const RegretSummary&, const RegretSummary&) = default;
};

/// What a ranker's law says of a list, whoever has shown it.
struct ListProbability {
  /// That the ranker's list would begin with the first of the items; none where its law has no
  /// tractable form.
  std::optional<double> first;
  /// ln of the probability that it would begin with all of the items, in their order; -infinity
  /// where it cannot, none where the law has no tractable form.
  std::optional<double> log_list;
};

/// What the score of one candidate is made of.
struct Explanation {
  /// A number that the ranker looked at, what it is worth, and their product.
  struct Part {
    std::string name;
    double value = 0.0;
    double weight = 0.0;
    double contribution = 0.0;
  };
  /// One of several learners that the ranker listens to.
  struct Expert {
    std::string name;
    double weight = 0.0;      // how far it is listened to; the weights sum to 1
    double prob_first = 0.0;  // by its own law
    double cost = 0.0;        // what it has paid so far, in nats
  };

  double score = 0.0;                // as `rank` uses it, prior included
  std::optional<double> prob_first;  // none where the law has no tractable form
  std::vector<Part> parts;           // the score, up to what all candidates have in common
  std::vector<Expert> experts;       // of a mixture; empty for others
};

/// Name and value of something that a person may want to see of a model.
using Description = std::vector<std::pair<std::string, std::string>>;

class Ranker;
/// include/hindsight/registry.h
Result<std::unique_ptr<Ranker>> make_ranker(std::string_view name, const ParamMap& params);

class Ranker {
 public:
  virtual ~Ranker() = default;
  Ranker(const Ranker&) = delete;
  Ranker& operator=(const Ranker&) = delete;

  /// The row of the registry that this ranker was made from, and its parameters, completed by
  /// defaults; empty where it was not made by the registry.
  const std::string& name() const { return name_; }
  const ParamMap& params() const { return params_; }

  /// Orders the candidates, or the whole library, and shows the first k.
  /// FAILS: kEmptyCandidates, kUnknownItem, kDuplicateItem, kInvalidArgument (k, sizes), kNotFinite
  /// (features, prior), kFeatureTooLong, kTooLarge (a whole library beyond max_scan that would have
  /// to be touched item by item), kUnsupported (a request that this ranker cannot learn from)
  Result<Decision> rank(const Request& request, const Signals& signals, Rng& rng) const;

  /// How likely it is that the list that `rank` would draw for the request begins with `list`.
  /// FAILS: as rank; kInvalidArgument (a list that is empty or longer than k), kUnknownItem (an
  /// item that is no candidate), kDuplicateItem
  Result<ListProbability> list_probability(const Request& request, const Signals& signals,
                                           std::span<const ItemIndex> list) const;

  /// Why a candidate stands where it stands: what `rank` would make of it for the same request.
  /// FAILS: as rank; kUnknownItem (an item that is no candidate)
  Result<Explanation> explain(const Request& request, const Signals& signals, ItemIndex item) const;

  /// Learns from what was clicked. Late, repeated and out-of-order feedback is safe.
  /// FAILS: kInvalidArgument (not this decision's feedback, or a decision that does not fit
  /// together), kItemNotShown, kUnknownItem, kNotFinite
  Result<LearnReport> learn(const Decision& decision, const Feedback& feedback,
                            const Signals& signals);

  /// Adds items, or replaces features and links of items that are there. Indices are dense: a new
  /// item's index is the number of items added so far. All or none are added. FAILS:
  /// kInvalidArgument, kUnknownItem (removed, or a link to an item never added), kNotFinite,
  /// kFeatureTooLong
  Result<void> add_items(std::span<const Item> items);
  /// RETURNS: what add_items would return, changing nothing.
  Result<void> check_add_items(std::span<const Item> items) const;

  /// Removes items from all future lists; decisions that are open still learn.
  /// FAILS: kUnknownItem, kDuplicateItem
  Result<void> remove_items(std::span<const ItemIndex> items);

  /// How many items were ever added, and how many of them are still there.
  std::size_t items_added() const { return live_.size(); }
  std::size_t items_live() const { return live_count_; }
  bool is_live(ItemIndex item) const { return item < live_.size() && live_[item] != 0; }

  /// Writes the whole state: what follows after loading equals what would have followed without.
  void save(ByteWriter& out) const;

  /// Replaces the whole state. After an error the ranker must not be used any more (load_ranker
  /// makes a new one). FAILS: kCorrupt
  Result<void> load(ByteReader& in);

  /// The state in words.
  virtual Description describe() const = 0;

  /// The ranker's own score of an item outside any request (higher is better). REQUIRES:
  /// is_live(item)
  virtual double item_score(ItemIndex item) const = 0;

  /// About what the ranker's state takes. The default is right for one that keeps two numbers per
  /// item.
  virtual std::size_t memory_bytes() const;

  /// How far a mixture listens to each of its experts, in the order in which `explain` names them;
  /// empty for others.
  virtual std::vector<float> expert_weights() const { return {}; }

  /// Whether `learn` uses feedback.full_order.
  virtual bool learns_rankings() const { return false; }

  /// Costs and bounds so far; null where the ranker has no regret bound.
  virtual const RegretAccount* regret() const { return nullptr; }
  /// The same in plain numbers; none where regret() is null.
  std::optional<RegretSummary> regret_summary() const;
  /// Whether what regret() books are K-L costs of choices.
  virtual bool books_kl_cost() const { return false; }
  /// The choice whose cost is booked for a click on a shown item; none unless books_kl_cost(). A
  /// function of the ranker's parameters alone, not of what it has learned. REQUIRES: `clicked` was
  /// shown, and the decision is one that `learn` takes
  virtual std::optional<Choice> choice_of(const Decision& decision, ItemIndex clicked) const;

 protected:
  Ranker() = default;

  /// REQUIRES: the request was checked: candidates live and distinct, 1 <= k <= n, sizes fit,
  /// numbers finite.
  virtual Result<Decision> do_rank(const Request& request, const Signals& signals,
                                   Rng& rng) const = 0;
  /// Ranks the whole library. The default lists the live items, in ascending order, and calls
  /// do_rank; a ranker that need not touch them all does better. FAILS: kTooLarge (more than
  /// max_scan). REQUIRES: the request was checked: 1 <= k <= items_live(), nothing per candidate
  virtual Result<Decision> do_rank_library(const Request& request, const Signals& signals,
                                           Rng& rng) const;
  /// `order` holds positions into the request's candidates. The default knows no law.
  /// REQUIRES: as do_rank; `order` is not empty, distinct, and has at most k positions
  virtual Result<ListProbability> do_list_probability(const Request& request,
                                                      const Signals& signals,
                                                      std::span<const std::uint32_t> order) const;
  /// Of the whole library. The default lists the live items and calls do_list_probability.
  /// FAILS and REQUIRES: as do_rank_library; `list` holds distinct live items
  virtual Result<ListProbability> do_library_probability(const Request& request,
                                                         const Signals& signals,
                                                         std::span<const ItemIndex> list) const;
  /// The default knows the item's own score and the prior. REQUIRES: as do_rank; `at` is a position
  /// among the candidates
  virtual Result<Explanation> do_explain(const Request& request, const Signals& signals,
                                         std::size_t at) const;
  /// REQUIRES: the decision fits together; `feedback.clicked` are distinct shown items.
  virtual Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                                       const Signals& signals) = 0;
  /// Checks that can still refuse, before anything is changed. Items are dense, numbers finite,
  /// links known.
  virtual Result<void> check_items(std::span<const Item> items) const;
  /// REQUIRES: check_items accepted them
  virtual void do_add_items(std::span<const Item> items) = 0;
  virtual void do_remove_items(std::span<const ItemIndex> /*items*/) {}
  virtual void do_save(ByteWriter& out) const = 0;
  virtual Result<void> do_load(ByteReader& in) = 0;

 private:
  friend Result<std::unique_ptr<Ranker>> make_ranker(std::string_view name, const ParamMap& params);

  Result<void> check_request(const Request& request) const;
  Result<void> check_library_request(const Request& request) const;
  /// The live items, in ascending order. FAILS: kTooLarge (more than max_scan)
  Result<std::vector<ItemIndex>> list_library(std::size_t max_scan) const;
  Result<void> check_decision(const Decision& decision) const;

  std::string name_;
  ParamMap params_;
  std::vector<std::uint8_t> live_;
  std::size_t live_count_ = 0;
};

}  // namespace hindsight
