#include "src/sim/graded_clicks.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "src/core/check.h"

namespace hindsight {
namespace {

struct Table {
  std::vector<double> click;
  std::vector<double> stop;
};

/// The columns of the header's table. REQUIRES: max_grade 1, 2 or 4
Table table_of(UserKind kind, std::size_t max_grade) {
  const bool five = max_grade == 4;
  Table table;
  switch (kind) {
    case UserKind::kPerfect:
      table.click = five ? std::vector{0.0, 0.2, 0.4, 0.8, 1.0} : std::vector{0.0, 0.5, 1.0};
      table.stop.assign(table.click.size(), 0.0);
      break;
    case UserKind::kNavigational:
      table.click = five ? std::vector{0.05, 0.3, 0.5, 0.7, 0.95} : std::vector{0.05, 0.5, 0.95};
      table.stop = five ? std::vector{0.2, 0.3, 0.5, 0.7, 0.9} : std::vector{0.2, 0.5, 0.9};
      break;
    case UserKind::kInformational:
      table.click = five ? std::vector{0.4, 0.6, 0.7, 0.8, 0.9} : std::vector{0.4, 0.7, 0.9};
      table.stop = five ? std::vector{0.1, 0.2, 0.3, 0.4, 0.5} : std::vector{0.1, 0.3, 0.5};
      break;
  }
  if (max_grade == 1) {
    table.click = {table.click.front(), table.click.back()};
    table.stop = {table.stop.front(), table.stop.back()};
  }
  return table;
}

}  // namespace

std::string_view user_kind_name(UserKind kind) {
  constexpr std::string_view kNames[] = {"perfect", "navigational", "informational"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<GradedClicks> GradedClicks::make(UserKind kind, std::size_t max_grade,
                                        std::vector<double> bias) {
  if (max_grade != 1 && max_grade != 2 && max_grade != 4) {
    return Error{
        ErrorCode::kInvalidArgument,
        "users are defined for grades up to 1, 2 or 4, not up to " + std::to_string(max_grade),
        "max_grade"};
  }
  if (!std::all_of(bias.begin(), bias.end(), [](double p) { return p >= 0.0 && p <= 1.0; })) {
    return Error{ErrorCode::kInvalidArgument, "must be probabilities", "bias"};
  }
  GradedClicks users;
  Table table = table_of(kind, max_grade);
  users.click_ = std::move(table.click);
  users.stop_ = std::move(table.stop);
  users.bias_ = std::move(bias);
  return users;
}

std::vector<std::uint32_t> GradedClicks::draw(std::span<const double> grades_as_listed,
                                              Rng& rng) const {
  std::vector<std::uint32_t> places;
  for (std::uint32_t place = 0; place < grades_as_listed.size(); ++place) {
    if (!bias_.empty() && (place >= bias_.size() || rng.uniform() >= bias_[place])) {
      continue;
    }
    const auto grade = static_cast<std::size_t>(grades_as_listed[place]);
    HINDSIGHT_CHECK(grade < click_.size());
    if (rng.uniform() < click_[grade]) {
      places.push_back(place);
      if (rng.uniform() < stop_[grade]) {
        break;
      }
    }
  }
  return places;
}

std::vector<double> falling_bias(std::size_t places, double power) {
  std::vector<double> bias(places);
  for (std::size_t i = 0; i < places; ++i) {
    bias[i] = std::pow(1.0 / static_cast<double>(i + 1), power);
  }
  return bias;
}

}  // namespace hindsight
