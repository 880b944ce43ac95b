#include "src/sim/click_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/check.h"

namespace hindsight {
namespace {

/// The longest list for which the best is searched for.
constexpr std::size_t kMaxSearched = 6;

bool is_chain(ClickKind kind) {
  return kind != ClickKind::kDocument && kind != ClickKind::kPosition;
}

Result<void> check_probabilities(const std::vector<double>& values, const std::string& field) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string place = field + "[" + std::to_string(i) + "]";
    if (!std::isfinite(values[i])) {
      return Error{ErrorCode::kNotFinite, "must be a finite number", place};
    }
    if (values[i] < 0.0 || values[i] > 1.0) {
      return Error{ErrorCode::kInvalidArgument, "must be a probability, from 0 to 1", place};
    }
  }
  return {};
}

Result<void> check_length(const std::vector<double>& values, std::size_t wanted,
                          const std::string& field) {
  if (values.size() != wanted) {
    return Error{ErrorCode::kInvalidArgument,
                 "must have " + std::to_string(wanted) + " values, one per place, and has " +
                     std::to_string(values.size()),
                 field};
  }
  return check_probabilities(values, field);
}

/// A draw of an event, to 32 bits.
bool happens(double probability, Rng& rng) {
  return static_cast<double>(rng.next_u32()) < probability * 0x1p32;
}

}  // namespace

std::string_view click_kind_name(ClickKind kind) {
  constexpr std::string_view kNames[] = {"document", "position", "cascade", "dependent",
                                         "impatient"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<ClickModel> ClickModel::make(ClickModelParams params) {
  const std::size_t places = params.positions;
  if (places == 0 || places > params.attraction.size()) {
    return Error{ErrorCode::kInvalidArgument,
                 "a list needs from 1 to " + std::to_string(params.attraction.size()) +
                     " places, the number of items",
                 "positions"};
  }
  if (places > kMaxPositions) {
    return Error{ErrorCode::kTooLarge, "lists have at most 64 places", "positions"};
  }
  HINDSIGHT_RETURN_IF_ERROR(check_probabilities(params.attraction, "attraction"));
  const ClickKind kind = params.kind;
  const bool goes_on = kind == ClickKind::kDependent || kind == ClickKind::kImpatient;
  HINDSIGHT_RETURN_IF_ERROR(
      check_length(params.bias, kind == ClickKind::kPosition ? places : 0, "bias"));
  HINDSIGHT_RETURN_IF_ERROR(check_length(params.go_on, goes_on ? places : 0, "go_on"));
  return ClickModel(std::move(params));
}

ClickModel::ClickModel(ClickModelParams params) : params_(std::move(params)) {
  const std::size_t places = params_.positions;
  if (params_.kind == ClickKind::kDocument) {
    params_.bias.assign(places, 1.0);
  }
  after_click_.assign(places, params_.kind == ClickKind::kCascade ? 0.0 : 1.0);
  after_pass_.assign(places, 1.0);
  if (params_.kind == ClickKind::kDependent) {
    after_click_ = params_.go_on;
  } else if (params_.kind == ClickKind::kImpatient) {
    after_pass_ = params_.go_on;
  }
  std::vector<ItemIndex> order(items());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [this](ItemIndex a, ItemIndex b) { return attraction(a) > attraction(b); });
  order.resize(places);
  most_attractive_ = std::move(order);
  target_ = reward(most_attractive_);
}

double ClickModel::examination(std::span<const ItemIndex> list, std::size_t k) const {
  if (!is_chain(kind())) {
    return k < positions() ? params_.bias[k] : 0.0;
  }
  double chi = 1.0;
  for (std::size_t i = 0; i < k; ++i) {
    chi *= onward(attraction(list[i]), i);
  }
  return chi;
}

double ClickModel::reward(std::span<const ItemIndex> list) const {
  double clicks = 0.0;
  if (!is_chain(kind())) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      clicks += params_.bias[k] * attraction(list[k]);
    }
    return clicks;
  }
  double chi = 1.0;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const double alpha = attraction(list[k]);
    clicks += chi * alpha;
    chi *= onward(alpha, k);
  }
  return clicks;
}

std::uint64_t ClickModel::draw(std::span<const ItemIndex> list, std::uint64_t wanted,
                               Rng& rng) const {
  std::uint64_t clicks = 0;
  if (!is_chain(kind())) {
    for (std::size_t k = 0; k < list.size() && (wanted >> k) != 0; ++k) {
      if (((wanted >> k) & 1U) != 0 && happens(params_.bias[k] * attraction(list[k]), rng)) {
        clicks |= std::uint64_t{1} << k;
      }
    }
    return clicks;
  }
  for (std::size_t k = 0; k < list.size() && (wanted >> k) != 0; ++k) {
    const bool clicked = happens(attraction(list[k]), rng);
    clicks |= static_cast<std::uint64_t>(clicked) << k;
    const double stay = clicked ? after_click_[k] : after_pass_[k];
    if (stay < 1.0 && !(stay > 0.0 && happens(stay, rng))) {
      break;
    }
  }
  return clicks & wanted;
}

Result<std::vector<ItemIndex>> ClickModel::optimal_list() const {
  switch (kind()) {
    case ClickKind::kDocument:
    case ClickKind::kCascade:
      return most_attractive_;
    case ClickKind::kPosition: {
      // The best item where the bias is largest, and so on (rearrangement inequality).
      std::vector<std::size_t> places(positions());
      std::iota(places.begin(), places.end(), std::size_t{0});
      std::stable_sort(places.begin(), places.end(), [this](std::size_t a, std::size_t b) {
        return params_.bias[a] > params_.bias[b];
      });
      std::vector<ItemIndex> list(positions());
      for (std::size_t i = 0; i < places.size(); ++i) {
        list[places[i]] = most_attractive_[i];
      }
      return list;
    }
    case ClickKind::kDependent:
      // With c_k = 1 - go_on[k] that never falls, the clicks to come after place k are at most
      // 1 / c_k, so that a more attractive item is better at every place, and of two neighbours
      // the better one goes first: A* is the best.
      if (std::is_sorted(params_.go_on.rbegin(), params_.go_on.rend())) {
        return most_attractive_;
      }
      break;
    case ClickKind::kImpatient:
      break;
  }
  if (positions() > kMaxSearched) {
    return Error{ErrorCode::kTooLarge,
                 "the best list is searched for, which is done for up to 6 places", "positions"};
  }
  return search();
}

// The reward is linear in the attractiveness at each place, so that some best list holds only the
// K most and the K least attractive items. All lists of these are tried.
std::vector<ItemIndex> ClickModel::search() const {
  std::vector<ItemIndex> pool(items());
  std::iota(pool.begin(), pool.end(), 0U);
  std::stable_sort(pool.begin(), pool.end(),
                   [this](ItemIndex a, ItemIndex b) { return attraction(a) > attraction(b); });
  if (pool.size() > 2 * positions()) {
    pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(positions()),
               pool.end() - static_cast<std::ptrdiff_t>(positions()));
  }
  std::vector<ItemIndex> best = most_attractive_;
  double most = target_;
  // Lists in the order of an odometer: the first K of `pool`, place after place.
  std::vector<ItemIndex> list;
  std::vector<std::size_t> picks;
  std::vector<std::uint8_t> used(pool.size(), 0);
  std::size_t next = 0;
  while (true) {
    while (next < pool.size() && used[next] != 0) {
      ++next;
    }
    if (next == pool.size() || list.size() == positions()) {
      if (list.size() == positions() && reward(list) > most) {
        most = reward(list);
        best = list;
      }
      if (picks.empty()) {
        return best;
      }
      next = picks.back() + 1;
      used[picks.back()] = 0;
      picks.pop_back();
      list.pop_back();
      continue;
    }
    used[next] = 1;
    picks.push_back(next);
    list.push_back(pool[next]);
    next = 0;
  }
}

}  // namespace hindsight
