#include "src/core/interleaving.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "src/core/check.h"
#include "src/core/scratch.h"

namespace hindsight {
namespace {

/// The list as it grows, and what stands in it already.
class Drafting {
 public:
  Drafting(std::size_t n, std::size_t k) : marks_(n), taken_(marks_.values()), k_(k) {
    HINDSIGHT_CHECK(k >= 1 && k <= n);
    std::fill(taken_.begin(), taken_.end(), std::uint8_t{0});
    made_.list.reserve(k);
    made_.team.reserve(k);
  }

  bool full() const { return made_.list.size() == k_; }
  bool has(std::uint32_t document) const { return taken_[document] != 0; }
  void add(std::uint32_t document, std::size_t team) {
    taken_[document] = 1;
    made_.list.push_back(document);
    made_.team.push_back(static_cast<std::uint8_t>(team));
  }
  Interleaved take() { return std::move(made_); }

 private:
  Scratch<std::uint8_t> marks_;
  std::span<std::uint8_t> taken_;
  std::size_t k_;
  Interleaved made_;
};

// Documents of one ranking, each with the weight rank^-3, drawn without replacement.
class RankSoftmax {
 public:
  explicit RankSoftmax(const DocumentOrder& ranking) : weight_(ranking.size()) {
    for (std::size_t i = 0; i < ranking.size(); ++i) {
      const auto rank = static_cast<double>(i + 1);
      weight_[ranking[i]] = 1.0 / (rank * rank * rank);
    }
  }

  void remove(std::uint32_t document) { weight_[document] = 0.0; }
  double total() const { return std::accumulate(weight_.begin(), weight_.end(), 0.0); }
  double prob(std::uint32_t document) const { return weight_[document] / total(); }
  std::uint32_t draw(Rng& rng) const {
    double left = rng.uniform() * total();
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < weight_.size(); ++i) {
      if (weight_[i] > 0.0) {
        last = i;
        left -= weight_[i];
        if (left < 0.0) {
          break;
        }
      }
    }
    return last;
  }

 private:
  std::vector<double> weight_;
};

}  // namespace

Interleaved team_draft(std::span<const DocumentOrder> rankings, std::size_t k, Rng& rng) {
  const std::size_t teams = rankings.size();
  HINDSIGHT_CHECK(teams >= 2 && teams <= kMaxTeams);
  Drafting drafting(rankings[0].size(), k);
  std::array<std::uint8_t, kMaxTeams> turn{};
  std::array<std::uint32_t, kMaxTeams> next{};
  std::iota(turn.begin(), turn.begin() + static_cast<std::ptrdiff_t>(teams), std::uint8_t{0});
  while (!drafting.full()) {
    for (std::size_t i = 0; i < teams && !drafting.full(); ++i) {
      std::swap(turn[i], turn[i + rng.below(teams - i)]);
      const std::uint8_t team = turn[i];
      std::uint32_t& at = next[team];
      while (drafting.has(rankings[team][at])) {
        ++at;
      }
      drafting.add(rankings[team][at], team);
    }
  }
  return drafting.take();
}

// [Radlinski08] Algorithm 1.
Interleaved balanced_interleaving(const DocumentOrder& a, const DocumentOrder& b, std::size_t k,
                                  Rng& rng) {
  HINDSIGHT_CHECK(a.size() == b.size());
  Drafting drafting(a.size(), k);
  const bool a_first = rng.below(2) == 0;
  std::array<std::size_t, 2> next = {0, 0};
  while (!drafting.full()) {
    const std::size_t team = next[0] < next[1] || (next[0] == next[1] && a_first) ? 0 : 1;
    const std::uint32_t document = (team == 0 ? a : b)[next[team]++];
    if (!drafting.has(document)) {
      drafting.add(document, team);
    }
  }
  return drafting.take();
}

Interleaved probabilistic_interleaving(const DocumentOrder& a, const DocumentOrder& b,
                                       std::size_t k, Rng& rng) {
  HINDSIGHT_CHECK(a.size() == b.size());
  Drafting drafting(a.size(), k);
  std::array<RankSoftmax, 2> softmax = {RankSoftmax(a), RankSoftmax(b)};
  while (!drafting.full()) {
    const std::size_t team = rng.below(2);
    const std::uint32_t document = softmax[team].draw(rng);
    drafting.add(document, team);
    softmax[0].remove(document);
    softmax[1].remove(document);
  }
  return drafting.take();
}

std::vector<std::uint32_t> team_credit(std::span<const std::uint8_t> team,
                                       std::span<const std::uint32_t> clicked_places,
                                       std::size_t teams) {
  std::vector<std::uint32_t> credit(teams, 0);
  for (const std::uint32_t place : clicked_places) {
    ++credit[team[place]];
  }
  return credit;
}

std::vector<std::uint16_t> ranks_of_list(const DocumentOrder& ranking,
                                         std::span<const std::uint32_t> list) {
  HINDSIGHT_CHECK(list.size() <= ranking.size() &&
                  list.size() <= std::numeric_limits<std::uint16_t>::max());
  Scratch<std::uint16_t> scratch(ranking.size());
  const std::span<std::uint16_t> rank = scratch.values();
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    rank[ranking[i]] = static_cast<std::uint16_t>(std::min(i, list.size()));
  }
  std::vector<std::uint16_t> ranks(list.size());
  std::transform(list.begin(), list.end(), ranks.begin(),
                 [&](std::uint32_t document) { return rank[document]; });
  return ranks;
}

std::array<double, 2> balanced_credit(std::span<const std::uint16_t> ranks_in_a,
                                      std::span<const std::uint16_t> ranks_in_b,
                                      std::span<const std::uint32_t> clicked_places) {
  if (clicked_places.empty()) {
    return {0.0, 0.0};
  }
  const std::uint32_t lowest = *std::max_element(clicked_places.begin(), clicked_places.end());
  const std::uint16_t prefix = std::min(ranks_in_a[lowest], ranks_in_b[lowest]);
  std::array<double, 2> credit = {0.0, 0.0};
  for (const std::uint32_t place : clicked_places) {
    credit[0] += ranks_in_a[place] <= prefix ? 1.0 : 0.0;
    credit[1] += ranks_in_b[place] <= prefix ? 1.0 : 0.0;
  }
  return credit;
}

std::array<double, 2> balanced_credit(const DocumentOrder& a, const DocumentOrder& b,
                                      std::span<const std::uint32_t> list,
                                      std::span<const std::uint32_t> clicked_places) {
  return balanced_credit(ranks_of_list(a, list), ranks_of_list(b, list), clicked_places);
}

std::array<double, 2> probabilistic_credit(const DocumentOrder& a, const DocumentOrder& b,
                                           std::span<const std::uint32_t> list,
                                           std::span<const std::uint32_t> clicked_places) {
  std::array<RankSoftmax, 2> softmax = {RankSoftmax(a), RankSoftmax(b)};
  std::array<double, 2> credit = {0.0, 0.0};
  for (std::uint32_t place = 0; place < list.size(); ++place) {
    if (std::find(clicked_places.begin(), clicked_places.end(), place) != clicked_places.end()) {
      // Both rankings were equally likely to be drawn: what is left is who likes the document more.
      const double by_a = softmax[0].prob(list[place]);
      const double by_b = softmax[1].prob(list[place]);
      credit[0] += by_a / (by_a + by_b);
      credit[1] += by_b / (by_a + by_b);
    }
    softmax[0].remove(list[place]);
    softmax[1].remove(list[place]);
  }
  return credit;
}

}  // namespace hindsight
