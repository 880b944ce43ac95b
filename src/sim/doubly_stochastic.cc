#include "src/sim/doubly_stochastic.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "src/core/check.h"

namespace hindsight {
namespace {

// Entries below this are what rounding has left.
constexpr double kNothing = 1e-12;
constexpr std::size_t kMaxRounds = 100'000;
constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// A matching of items to places over the positive entries, kept from one step to the next.
class Matching {
 public:
  explicit Matching(const SquareMatrix& matrix)
      : matrix_(matrix), place_of_(matrix.n, kNobody), item_at_(matrix.n, kNobody) {}

  /// Gives every item a place. RETURNS: false where the positive entries allow none.
  bool complete() {
    for (std::uint32_t item = 0; item < matrix_.n; ++item) {
      seen_.assign(matrix_.n, false);
      if (place_of_[item] == kNobody && !find_place(item)) {
        return false;
      }
    }
    return true;
  }

  /// Takes pairs apart whose entry has vanished.
  void drop_empty() {
    for (std::uint32_t item = 0; item < matrix_.n; ++item) {
      if (place_of_[item] != kNobody && matrix_.at(item, place_of_[item]) <= kNothing) {
        item_at_[place_of_[item]] = kNobody;
        place_of_[item] = kNobody;
      }
    }
  }

  std::uint32_t place_of(std::uint32_t item) const { return place_of_[item]; }
  const std::vector<std::uint32_t>& order() const { return item_at_; }

 private:
  bool find_place(std::uint32_t item) {
    for (std::uint32_t place = 0; place < matrix_.n; ++place) {
      if (seen_[place] || matrix_.at(item, place) <= kNothing) {
        continue;
      }
      seen_[place] = true;
      if (item_at_[place] == kNobody || find_place(item_at_[place])) {
        item_at_[place] = item;
        place_of_[item] = place;
        return true;
      }
    }
    return false;
  }

  const SquareMatrix& matrix_;
  std::vector<std::uint32_t> place_of_;
  std::vector<std::uint32_t> item_at_;
  std::vector<bool> seen_;
};

double scale_rows(SquareMatrix& matrix) {
  double worst = 0.0;
  for (std::size_t row = 0; row < matrix.n; ++row) {
    double sum = 0.0;
    for (std::size_t column = 0; column < matrix.n; ++column) {
      sum += matrix.at(row, column);
    }
    worst = std::max(worst, std::abs(sum - 1.0));
    for (std::size_t column = 0; column < matrix.n; ++column) {
      matrix.at(row, column) /= sum;
    }
  }
  return worst;
}

void scale_columns(SquareMatrix& matrix) {
  for (std::size_t column = 0; column < matrix.n; ++column) {
    double sum = 0.0;
    for (std::size_t row = 0; row < matrix.n; ++row) {
      sum += matrix.at(row, column);
    }
    for (std::size_t row = 0; row < matrix.n; ++row) {
      matrix.at(row, column) /= sum;
    }
  }
}

}  // namespace

std::size_t balance(SquareMatrix& matrix, double tolerance) {
  // After the columns the rows are off again, by less each time.
  for (std::size_t round = 1; round <= kMaxRounds; ++round) {
    if (scale_rows(matrix) <= tolerance) {
      return round;
    }
    scale_columns(matrix);
  }
  return kMaxRounds;
}

std::vector<std::uint32_t> draw_birkhoff(SquareMatrix matrix, Rng& rng) {
  Matching matching(matrix);
  HINDSIGHT_CHECK(matching.complete());
  double left = rng.uniform();
  for (;;) {
    double share = 1.0;
    for (std::uint32_t item = 0; item < matrix.n; ++item) {
      share = std::min(share, matrix.at(item, matching.place_of(item)));
    }
    std::vector<std::uint32_t> order = matching.order();
    left -= share;
    if (left < 0.0) {
      return order;
    }
    for (std::uint32_t item = 0; item < matrix.n; ++item) {
      matrix.at(item, matching.place_of(item)) -= share;
    }
    matching.drop_empty();
    if (!matching.complete()) {
      return order;  // only rounding is left
    }
  }
}

}  // namespace hindsight
