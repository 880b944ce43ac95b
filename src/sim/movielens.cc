#include "src/sim/movielens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "src/core/check.h"
#include "src/core/kernels.h"
#include "src/core/span_basis.h"
#include "src/core/vector_set.h"
#include "src/sim/cell_number.h"

namespace hindsight {
namespace {

constexpr double kMostStars = 5.0;

TableSpec ratings_spec(std::string name) {
  return {.name = std::move(name),
          .columns = {"userId", "movieId", "rating"},
          .limits = {},
          .separator = ','};
}

/// Ids become dense in the order in which they come.
class Numbering {
 public:
  std::uint32_t of(std::uint32_t id) {
    return numbers_.emplace(id, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::map<std::uint32_t, std::uint32_t> numbers_;
};

struct Intake {
  MovieRatings ratings;
  Numbering users;
  Numbering movies;

  Result<void> take(std::span<const std::string_view> cells) {
    constexpr std::uint32_t kMaxId = 1U << 31;
    const auto user = number_in<std::uint32_t>(cells[0], 0, kMaxId);
    const auto movie = number_in<std::uint32_t>(cells[1], 0, kMaxId);
    const auto stars = number_in<double>(cells[2], 0.5, kMostStars);
    if (!user || !movie || !stars) {
      return Error{ErrorCode::kParse,
                   fmt::format("'{},{},{}' is no user, movie and rating from 0.5 to 5", cells[0],
                               cells[1], cells[2]),
                   ""};
    }
    ratings.ratings.push_back(
        {.user = users.of(*user), .movie = movies.of(*movie), .stars = *stars});
    return {};
  }
  Result<MovieRatings> finish() && {
    if (ratings.ratings.empty()) {
      return Error{ErrorCode::kInvalidArgument, "there are no ratings", "ratings"};
    }
    ratings.users = users.size();
    ratings.movies = movies.size();
    return std::move(ratings);
  }
};

/// RETURNS: of each user, whether they make the features.
std::vector<std::uint8_t> split_users(std::size_t users, std::size_t chosen, Rng& rng) {
  std::vector<std::uint32_t> order(users);
  std::iota(order.begin(), order.end(), 0U);
  std::vector<std::uint8_t> makes(users, 0);
  for (std::size_t i = 0; i < chosen; ++i) {
    std::swap(order[i], order[i + rng.below(users - i)]);
    makes[order[i]] = 1;
  }
  return makes;
}

/// RETURNS: the most rated movies among those that a feature user has rated, most rated first.
std::vector<std::uint32_t> choose_movies(const MovieRatings& ratings,
                                         const std::vector<std::uint8_t>& makes) {
  std::vector<std::uint32_t> rated(ratings.movies, 0);
  std::vector<std::uint8_t> known(ratings.movies, 0);
  for (const Rating& rating : ratings.ratings) {
    ++rated[rating.movie];
    known[rating.movie] |= makes[rating.user];
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < ratings.movies; ++i) {
    if (known[i] != 0) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rated[a] > rated[b]; });
  return order;
}

/// The leading singular directions of a matrix of users x movies, by power iteration on its rows'
/// products. RETURNS: rows of V S, one per movie
std::vector<double> movie_factors(const std::vector<std::vector<double>>& by_user,
                                  std::size_t movies, std::size_t components, Rng& rng) {
  constexpr int kIterations = 300;
  const std::size_t users = by_user.size();
  std::vector<double> gram(users * users);
  for (std::size_t i = 0; i < users; ++i) {
    for (std::size_t j = 0; j < users; ++j) {
      gram[i * users + j] = dot(by_user[i], by_user[j]);
    }
  }
  VectorSet start(components, users);
  for (double& x : start.columns) {
    x = rng.normal();
  }
  SpanBasis basis = span_of(start);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    // Ordered, so that the first direction is the leading one.
    std::vector<std::vector<double>> next;
    for (std::size_t r = 0; r < basis.rank; ++r) {
      const std::span<const double> direction = std::span(basis.basis).subspan(r * users, users);
      std::vector<double> image(users);
      for (std::size_t i = 0; i < users; ++i) {
        image[i] = dot(std::span(gram).subspan(i * users, users), direction);
      }
      for (const std::vector<double>& earlier : next) {
        const double along = dot(earlier, image);
        for (std::size_t i = 0; i < users; ++i) {
          image[i] -= along * earlier[i];
        }
      }
      const double length = std::sqrt(dot(image, image));
      for (double& x : image) {
        x /= length > 0.0 ? length : 1.0;
      }
      next.push_back(std::move(image));
    }
    for (std::size_t r = 0; r < next.size(); ++r) {
      std::copy(next[r].begin(), next[r].end(),
                basis.basis.begin() + static_cast<std::ptrdiff_t>(r * users));
    }
  }
  std::vector<double> factors(movies * components, 0.0);
  for (std::size_t m = 0; m < movies; ++m) {
    for (std::size_t r = 0; r < basis.rank; ++r) {
      for (std::size_t u = 0; u < users; ++u) {
        factors[m * components + r] += by_user[u][m] * basis.basis[r * users + u];
      }
    }
  }
  return factors;
}

/// Attractiveness into [0, 1], by the constant feature and, if need be, a smaller scale.
void fit_into_unit(const std::vector<double>& features, std::size_t dim,
                   std::vector<double>& theta) {
  double low = INFINITY;
  double high = -INFINITY;
  for (std::size_t i = 0; i * dim < features.size(); ++i) {
    const double alpha = dot(std::span(features).subspan(i * dim, dim), theta);
    low = std::min(low, alpha);
    high = std::max(high, alpha);
  }
  const double scale = high - low > 1.0 ? 1.0 / (high - low) : 1.0;
  for (double& value : theta) {
    value *= scale;
  }
  const double shift = std::max(0.0, -scale * low) - std::max(0.0, scale * high - 1.0);
  theta.back() += shift / features[dim - 1];  // the constant feature is the same of all
}

}  // namespace

std::optional<std::filesystem::path> find_ratings(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const char* name : {"ratings.csv.zst", "ratings.csv"}) {
    if (std::filesystem::exists(folder / name, ignored)) {
      return folder / name;
    }
  }
  return std::nullopt;
}

Result<MovieRatings> parse_ratings(std::string_view text, TextEncoding encoding) {
  Intake intake;
  HINDSIGHT_RETURN_IF_ERROR(parse_table(text, encoding, ratings_spec("ratings"),
                                        [&](auto cells) { return intake.take(cells); }));
  return std::move(intake).finish();
}

Result<MovieRatings> read_ratings(const std::filesystem::path& file) {
  Intake intake;
  HINDSIGHT_RETURN_IF_ERROR(
      read_table(file, ratings_spec("ratings"), [&](auto cells) { return intake.take(cells); }));
  return std::move(intake).finish();
}

Result<LinearWorld> make_movie_world(const MovieRatings& ratings, const MovieWorldParams& params,
                                     std::uint64_t seed) {
  if (params.feature_users == 0 || ratings.users <= params.feature_users || params.dim < 2) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("there are {} users; more than {} are needed", ratings.users,
                             params.feature_users),
                 "ratings"};
  }
  Rng rng(seed);
  const std::vector<std::uint8_t> makes = split_users(ratings.users, params.feature_users, rng);
  std::vector<std::uint32_t> chosen = choose_movies(ratings, makes);
  if (chosen.size() < params.movies) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("{} movies have features, and {} are wanted", chosen.size(), params.movies),
        "ratings"};
  }
  chosen.resize(params.movies);
  std::vector<std::size_t> place(ratings.movies, params.movies);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    place[chosen[i]] = i;
  }
  std::vector<std::vector<double>> by_user;
  std::vector<std::size_t> row(ratings.users, 0);
  for (std::size_t u = 0; u < ratings.users; ++u) {
    if (makes[u] != 0) {
      row[u] = by_user.size();
      by_user.emplace_back(params.movies, 0.0);
    }
  }
  std::vector<double> liked(params.movies, 0.0);
  const auto others = static_cast<double>(ratings.users - params.feature_users);
  for (const Rating& rating : ratings.ratings) {
    const std::size_t movie = place[rating.movie];
    if (movie == params.movies) {
      continue;
    }
    if (makes[rating.user] != 0) {
      by_user[row[rating.user]][movie] = rating.stars;
    } else {
      liked[movie] += rating.stars / (kMostStars * others);
    }
  }
  const std::vector<double> factors = movie_factors(by_user, params.movies, params.dim - 1, rng);
  std::vector<double> features;
  for (std::size_t m = 0; m < params.movies; ++m) {
    HINDSIGHT_ASSIGN_OR_RETURN(
        const std::vector<double> x,
        to_unit_with_constant(std::span(factors).subspan(m * (params.dim - 1), params.dim - 1)));
    features.insert(features.end(), x.begin(), x.end());
  }
  std::vector<double> theta = least_squares(VectorSet::from_rows(features, params.dim),
                                            std::vector<double>(params.movies, 1.0), liked);
  fit_into_unit(features, params.dim, theta);
  return make_linear_world(params.dim, std::move(features), std::move(theta));
}

}  // namespace hindsight
