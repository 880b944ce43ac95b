// ProbeRanker: a small click bandit that uses aux and learns on close, and the same with one fault.
//
// It sorts by click rate, but puts one candidate, drawn uniformly, in front: the probe. Only the
// probe's rate is learned, once the window has closed, and only in the phase in which it was drawn;
// aux carries phase and probe from the ranking to that moment. So do the click bandits and duels
// that need more than the shown list to learn from it.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "hindsight/ranker.h"
#include "tests/support/conformance.h"

namespace hindsight::testing {

/// What is wrong with a ProbeRanker.
enum class Fault : std::uint8_t {
  kNone,
  kProbabilitiesSumTo101,  // prob_first is 1% too high
  kPropensityOffBy101,     // e^log_propensity is 1% too high
  kDrawsUnlikeItsLaw,      // the last candidate is probed twice as often as said
  kCountsRanks,            // rank changes what is saved
  kRemembersRanks,         // rank changes the next ranking, unseen in the save
  kLosesWins,              // save leaves a part of the state out
  kAcceptsCutSaves,        // load takes a truncated save
  kLearnsBeforeChecking,   // refuses a bad aux after it has learned from it
  kOverflows,              // a number doubles with every feedback
};

class ProbeRanker final : public Ranker {
 public:
  explicit ProbeRanker(Fault fault = Fault::kNone) : fault_(fault) {}

  Description describe() const override;
  double item_score(ItemIndex item) const override { return rate(item); }

 protected:
  Result<Decision> do_rank(const Request& request, const Signals& signals, Rng& rng) const override;
  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& signals) override;
  void do_add_items(std::span<const Item> items) override;
  void do_save(ByteWriter& out) const override;
  Result<void> do_load(ByteReader& in) override;

 private:
  struct Probe {
    std::uint32_t phase = 0;
    ItemIndex item = 0;
  };

  double rate(ItemIndex item) const;
  std::size_t draw_probe(std::size_t n, Rng& rng) const;
  Result<Probe> read_aux(const Decision& decision) const;

  Fault fault_;
  std::uint32_t phase_ = 0;
  std::uint32_t closed_in_phase_ = 0;
  std::vector<std::uint32_t> probes_;
  std::vector<std::uint32_t> wins_;
  double growing_ = 1.0;
  mutable std::atomic<std::uint32_t> ranks_ = 0;  // of the faulty ones; ranks may be concurrent
};

inline Subject probe_subject(Fault fault) {
  return {.name = "probe", .learns = Learns::kOnClose, .make = [fault] {
            return std::make_unique<ProbeRanker>(fault);
          }};
}

}  // namespace hindsight::testing
