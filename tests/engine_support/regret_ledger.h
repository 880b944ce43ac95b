// RegretLedger: the costs of a KLRank ranker over one weight per item, written down by the test
// itself, click by click: [Delage09] Table 1 in plain words, a second time.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/core/choice_objective.h"
#include "src/core/regret_meter.h"

namespace hindsight {

class RegretLedger {
 public:
  explicit RegretLedger(double alpha) : alpha_(alpha) {}

  /// The cost of a pick under the present weights.
  double cost(const std::vector<std::string>& shown, const std::string& picked) const {
    double sum = 0.0;
    for (const std::string& item : shown) {
      sum += std::exp(weight(item));
    }
    return std::log(sum) - weight(picked);
  }

  /// Table 1, with the sign put right.
  void learn(const std::vector<std::string>& shown, const std::string& picked, double served) {
    const std::uint64_t t = picks_.size() + 1;
    std::uint64_t m = 1;
    while (std::uint64_t{2} << (m - 1) <= t) {
      ++m;
    }
    const double k = static_cast<double>(t - (std::uint64_t{1} << (m - 1)) + 1);
    const double radius = alpha_ * std::pow(2.0, static_cast<double>(m) / 4.0);
    const double eta = 2.0 * radius / (2.0 * std::sqrt(2.0)) / std::sqrt(k);
    const double paid = cost(shown, picked);
    double total = 0.0;
    for (const std::string& item : shown) {
      total += std::exp(weight(item));
    }
    std::map<std::string, double> gradient;
    for (const std::string& item : shown) {
      gradient[item] = std::exp(weight(item)) / total - (item == picked ? 1.0 : 0.0);
    }
    double gradient2 = 0.0;
    for (const auto& [item, slope] : gradient) {
      weights_[item] -= eta * slope;
      gradient2 += slope * slope;
    }
    double norm2 = 0.0;
    for (const auto& [item, value] : weights_) {
      norm2 += value * value;
    }
    if (norm2 > radius * radius) {
      for (auto& [item, value] : weights_) {
        value *= radius / std::sqrt(norm2);
      }
    }
    learned_ += paid;
    served_ += served;
    picks_.push_back({shown, picked, served});
    if (cycles_.size() < m) {
      cycles_.resize(m);
    }
    CycleAccount& cycle = cycles_[m - 1];
    ++cycle.clicks;
    cycle.radius = radius;
    cycle.last_eta = eta;
    cycle.learned_cost += paid;
    cycle.eta_gradient += eta * gradient2;
  }

  /// The same picks, learned again with another alpha.
  RegretLedger again(double alpha) const {
    RegretLedger other(alpha);
    for (const Pick& pick : picks_) {
      other.learn(pick.shown, pick.item, pick.served);
    }
    return other;
  }

  std::uint64_t clicks() const { return picks_.size(); }
  double learned() const { return learned_; }
  double served() const { return served_; }
  double bound() const {
    return 20.0 * alpha_ * (std::pow(static_cast<double>(clicks()), 0.75) + 1.0);
  }
  double data_bound() const {
    double sum = 0.0;
    for (const CycleAccount& cycle : cycles_) {
      sum += 2.0 * cycle.radius * cycle.radius / cycle.last_eta + 0.5 * cycle.eta_gradient;
    }
    return sum;
  }

  /// The best fixed policy by the meter, over choices and an account of the ledger's own.
  RegretBracket bracket() const {
    std::map<std::string, ItemIndex> numbers;
    std::vector<Choice> choices;
    for (const Pick& pick : picks_) {
      Choice& choice = choices.emplace_back();
      choice.n = pick.shown.size();
      for (const std::string& item : pick.shown) {
        choice.items.push_back(
            numbers.emplace(item, static_cast<ItemIndex>(numbers.size())).first->second);
        if (item == pick.item) {
          choice.picked = choice.items.size() - 1;
        }
      }
    }
    RegretAccount account(*StepSchedule::make({.alpha = alpha_}, true));
    for (const CycleAccount& cycle : cycles_) {
      for (std::uint64_t i = 0; i < cycle.clicks; ++i) {
        account.book(account.next_step(), cycle.learned_cost / static_cast<double>(cycle.clicks),
                     0.0, 0.0);
      }
    }
    RegretMeter meter([&](std::uint64_t first, std::uint64_t last) {
      return std::make_unique<ChoiceObjective>(
          std::span(choices).subspan(first - 1, last - first + 1),
          ChoiceObjective::Sizes{.items = numbers.size()});
    });
    return meter.measure(account);
  }

 private:
  struct Pick {
    std::vector<std::string> shown;
    std::string item;
    double served = 0.0;
  };

  double weight(const std::string& item) const {
    const auto found = weights_.find(item);
    return found == weights_.end() ? 0.0 : found->second;
  }

  double alpha_;
  std::map<std::string, double> weights_;
  std::vector<Pick> picks_;
  std::vector<CycleAccount> cycles_;
  double learned_ = 0.0;
  double served_ = 0.0;
};

}  // namespace hindsight
