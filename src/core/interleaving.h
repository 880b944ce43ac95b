// Interleaving: one list made of several rankings, so that clicks tell which of them is better.
//
//   team draft      in each round every ranking, in random order, adds its best document that is
//                   not in the list yet ([Radlinski08]; of more than two: [Schuth14]). A click
//                   counts for the ranking that added the document.
//   balanced        the rankings take turns, a coin says who begins; any prefix of the list holds
//                   nearly equal prefixes of both ([Joachims02], [Radlinski08]). The clicks are
//                   counted in the shortest equal prefixes that explain the lowest of them. It can
//                   favour one of two different rankings under random clicks ([Radlinski08]).
//   probabilistic   each place draws a ranking, then a document from it with probability
//                   proportional to rank^-3 ([Hofmann11]). A click counts for both rankings, as
//                   likely as each was to have placed the document there.
//
// A ranking is an order of the documents 0 ... n-1, best first. Places count from 0.
//
// Thread-safety: pure functions of their arguments; the Rng is the caller's.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/random.h"

namespace hindsight {

using DocumentOrder = std::vector<std::uint32_t>;

struct Interleaved {
  DocumentOrder list;
  std::vector<std::uint8_t> team;  // of each place: the ranking that put the document there
};

/// At most so many rankings in one list.
inline constexpr std::size_t kMaxTeams = 64;

/// Team draft of two rankings, multileaving of more.
/// REQUIRES: 2 to kMaxTeams orders of the same n documents; 1 <= k <= n
Interleaved team_draft(std::span<const DocumentOrder> rankings, std::size_t k, Rng& rng);

/// REQUIRES: orders of the same n documents; 1 <= k <= n
Interleaved balanced_interleaving(const DocumentOrder& a, const DocumentOrder& b, std::size_t k,
                                  Rng& rng);
Interleaved probabilistic_interleaving(const DocumentOrder& a, const DocumentOrder& b,
                                       std::size_t k, Rng& rng);

/// RETURNS: the clicks of each of `teams` rankings.
/// REQUIRES: places below team.size(); members of `team` below `teams`
std::vector<std::uint32_t> team_credit(std::span<const std::uint8_t> team,
                                       std::span<const std::uint32_t> clicked_places,
                                       std::size_t teams);

/// RETURNS: the rank of each document of the list in `ranking`, or list.size() where it stands
/// further below: what balanced credit needs of a ranking. REQUIRES: the list comes from
/// balanced_interleaving of it and another, and is shorter than 2^16
std::vector<std::uint16_t> ranks_of_list(const DocumentOrder& ranking,
                                         std::span<const std::uint32_t> list);

/// RETURNS: the clicks of each ranking. REQUIRES: ranks_of_list of both; places below their size
std::array<double, 2> balanced_credit(std::span<const std::uint16_t> ranks_in_a,
                                      std::span<const std::uint16_t> ranks_in_b,
                                      std::span<const std::uint32_t> clicked_places);
/// The same, of the rankings. REQUIRES: as ranks_of_list; places below the list's size
std::array<double, 2> balanced_credit(const DocumentOrder& a, const DocumentOrder& b,
                                      std::span<const std::uint32_t> list,
                                      std::span<const std::uint32_t> clicked_places);

/// RETURNS: the expected clicks of each ranking, over all assignments of the places that could have
/// led to the list ([Hofmann11] section 4.2). REQUIRES: likewise, of probabilistic_interleaving
std::array<double, 2> probabilistic_credit(const DocumentOrder& a, const DocumentOrder& b,
                                           std::span<const std::uint32_t> list,
                                           std::span<const std::uint32_t> clicked_places);

}  // namespace hindsight
