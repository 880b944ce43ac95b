// GradedClicks: users who click in a list of judged documents ([Guo09], in the instances of
// [Hofmann13]).
//
// The user reads from the top. A document of grade g is clicked with probability click(g); after a
// click the user stops with probability stop(g). With a position bias, a place is looked at with a
// probability of its own, and passed over otherwise.
//
//   perfect         clicks by relevance alone, and never stops
//   navigational    looks for one document: mostly clicks relevant ones, and stops there
//   informational   clicks much, also what is not relevant
//
//   grades          0     1     2          0    1    2    3    4
//   perfect         0     0.5   1          0    0.2  0.4  0.8  1       stop 0
//   navigational    0.05  0.5   0.95       0.05 0.3  0.5  0.7  0.95
//     stop          0.2   0.5   0.9        0.2  0.3  0.5  0.7  0.9
//   informational   0.4   0.7   0.9        0.4  0.6  0.7  0.8  0.9
//     stop          0.1   0.3   0.5        0.1  0.2  0.3  0.4  0.5
//
// Of data with grades 0 and 1 the first and the last columns are taken.
//
// Thread-safety: constant after it was made.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"

namespace hindsight {

enum class UserKind : std::uint8_t { kPerfect, kNavigational, kInformational };
inline constexpr UserKind kUserKinds[] = {UserKind::kPerfect, UserKind::kNavigational,
                                          UserKind::kInformational};
/// "perfect", ...
std::string_view user_kind_name(UserKind kind);

class GradedClicks {
 public:
  /// `max_grade` is 1, 2 or 4. `bias`: the probability to look at each place; places beyond its end
  /// are not looked at; empty: all are. FAILS: kInvalidArgument
  static Result<GradedClicks> make(UserKind kind, std::size_t max_grade,
                                   std::vector<double> bias = {});

  /// One user's clicks. RETURNS: places, ascending. REQUIRES: grades are whole numbers up to
  /// max_grade
  std::vector<std::uint32_t> draw(std::span<const double> grades_as_listed, Rng& rng) const;

  /// The probability of a click on a document that is looked at, and to stop after it.
  double click(std::size_t grade) const { return click_[grade]; }
  double stop(std::size_t grade) const { return stop_[grade]; }
  std::size_t max_grade() const { return click_.size() - 1; }

 private:
  GradedClicks() = default;

  std::vector<double> click_;
  std::vector<double> stop_;
  std::vector<double> bias_;
};

/// RETURNS: (1 / place)^power for each place, counted from 1: the bias that eye tracking suggests.
std::vector<double> falling_bias(std::size_t places, double power);

}  // namespace hindsight
