// ScoredRanker: a ranker that gives every candidate a score and makes the list from the scores.
//
// Algorithms say how to score and how to learn; this class draws or sorts the list, computes its
// law, and writes the decision.
//
// Thread-safety: as Ranker.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/ranker.h"
#include "hindsight/registry.h"

namespace hindsight {

class SumTree;

/// How a list that is drawn as a whole comes from scores.
enum class ListSort : std::uint8_t {
  kPlackettLuce,
  kQuickSort,     // [Ailon13] Algorithm 2: no closed law of the first slot
  kUniformNoise,  // by score plus a number drawn from [0, 1): no closed law at all
};

/// How a list is made from scores.
struct ListOptions {
  std::string name = {};  // of the ranker, for the decision
  ListLaw law = ListLaw::kDeterministic;
  ListSort sort = ListSort::kPlackettLuce;  // of laws kWholeList and kNotStated
  ChoiceSet choice_set = ChoiceSet::kShown;
  /// With k < n, draw the order of the shown items again, from the softmax over them alone, so that
  /// the K-L cost of [Delage09] 3.2 is that of the choice among them.
  bool redraw = false;
  /// Refuse lists of one item out of several: a choice among one teaches nothing.
  bool needs_choice = true;
  bool uses_prior = true;
};

class ScoredRanker : public Ranker {
 protected:
  explicit ScoredRanker(ListOptions options) : options_(std::move(options)) {}

  const ListOptions& options() const { return options_; }

  /// The features that `score` uses, one row per candidate, or none. FAILS: kFeatureTooLong
  virtual Result<FeatureRows> collect_features(const Request& request) const;

  /// out[i] = the ranker's own score of candidate i. REQUIRES: features come from collect_features
  virtual void score(const Request& request, const Signals& signals, const FeatureRows& features,
                     std::span<double> out) const = 0;

  /// What learning will need beside the choice set. `shown` holds positions into `scores`, which
  /// are those of all candidates, priors included.
  virtual std::vector<std::byte> aux_of(std::span<const double> scores,
                                        std::span<const std::uint32_t> shown) const;

  Result<Decision> do_rank(const Request& request, const Signals& signals, Rng& rng) const final;
  Result<ListProbability> do_list_probability(const Request& request, const Signals& signals,
                                              std::span<const std::uint32_t> order) const final;

  /// A decision over the whole library without touching every item: the list is drawn from the
  /// tree, in which each live item has the weight e^(score - shift), and the others zero.
  /// FAILS: kUnsupported (a list of one). REQUIRES: law kWholeList, choice set kShown
  Result<Decision> rank_by_tree(const SumTree& tree, double shift, const Request& request,
                                Rng& rng) const;
  /// The law of rank_by_tree. FAILS and REQUIRES: likewise
  Result<ListProbability> probability_by_tree(const SumTree& tree, const Request& request,
                                              std::span<const ItemIndex> list) const;

 private:
  struct Drawn;
  /// Candidates with their scores, priors included.
  struct Scored;
  /// FAILS: kUnsupported, kFeatureTooLong, kNotFinite
  Result<Scored> score_candidates(const Request& request, const Signals& signals) const;
  /// Whether the order of the k shown out of n is drawn again, which leaves no tractable law.
  bool redraws(std::size_t k, std::size_t n) const { return options_.redraw && k < n; }
  Result<Drawn> draw(std::span<const double> scores, std::size_t k, Rng& rng) const;
  Result<Drawn> draw_without_first_law(std::span<const double> scores, std::size_t k,
                                       Rng& rng) const;
  Result<void> check_choice(std::size_t k, std::size_t n) const;
  Result<void> redraw(std::span<const double> scores, Drawn& drawn, Rng& rng) const;

  ListOptions options_;
};

/// Adds the positions below n that are missing, ascending. REQUIRES: distinct, below n
void append_the_rest(std::vector<std::uint32_t>& order, std::size_t n);

/// Writes the candidates into the decision, in this order: items, scores, features, and priors
/// where they count. REQUIRES: positions below the number of candidates; one score for each of
/// these
void write_candidates(const Request& request, std::span<const double> scores,
                      const FeatureRows& features, bool with_prior,
                      std::span<const std::uint32_t> order, Decision& decision);

/// Adds the caller's own scores, where there are any. REQUIRES: none, or at least one per score
void add_prior(std::span<const double> prior, std::span<double> scores);

/// RETURNS: where `item` stands in the shown list. REQUIRES: it was shown
std::size_t place_of(const Decision& decision, ItemIndex item);

/// RETURNS: where the items stand in the shown list. REQUIRES: they were shown
std::vector<std::uint32_t> places_of(const Decision& decision, std::span<const ItemIndex> items);

/// A number of rounds that is known beforehand; 0: it is not.
ParamSpec horizon_spec(std::string_view help);

/// The parameter that every ranker has: which items a pick is a choice among.
ParamSpec choice_set_spec();
/// REQUIRES: params holds a valid choice_set
ChoiceSet choice_set_of(const ParamMap& params);

/// The parameter of rankers that learn under context keys (src/core/context_terms.h).
ParamSpec context_terms_spec();
/// REQUIRES: params holds valid context_terms
std::size_t context_terms_of(const ParamMap& params);
/// `hint`: the parameters that decide. FAILS: kUnsupported (a key where there are no terms)
Result<void> check_context_key(const Request& request, std::size_t context_terms,
                               std::string_view hint = "context_terms");

// Typed access to checked parameters. REQUIRES: the name is there, with that type
double number(const ParamMap& params, std::string_view name);
const std::string& word(const ParamMap& params, std::string_view name);
bool flag(const ParamMap& params, std::string_view name);

/// A number with six significant digits.
std::string pretty(double value);

}  // namespace hindsight
