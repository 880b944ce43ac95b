// MovieLens: ratings of movies, and the world of clicks that [Li19] section 5 makes of them.
//
// A folder with ratings.csv or ratings.csv.zst (columns userId, movieId, rating), as GroupLens
// publishes it in any size.
//
// Thread-safety: plain values, and functions of their arguments and of files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"
#include "src/sim/linear_world.h"
#include "src/sim/table_reader.h"

namespace hindsight {

struct Rating {
  std::uint32_t user = 0;   // dense, in the order of the file
  std::uint32_t movie = 0;  // likewise
  double stars = 0.0;       // 0.5 to 5
};

struct MovieRatings {
  std::vector<Rating> ratings;
  std::size_t users = 0;
  std::size_t movies = 0;
};

/// RETURNS: the file of ratings in a folder, if there is one.
std::optional<std::filesystem::path> find_ratings(const std::filesystem::path& folder);

/// FAILS: as parse_table; kParse (a rating outside 0.5 to 5, an id that is no number),
/// kInvalidArgument (no ratings)
Result<MovieRatings> parse_ratings(std::string_view text, TextEncoding encoding);
Result<MovieRatings> read_ratings(const std::filesystem::path& file);

struct MovieWorldParams {
  std::size_t movies = 1'000;       // the most rated ones
  std::size_t feature_users = 100;  // whose ratings make the features
  std::size_t dim = 5;
};

/// Users are split at random. Features of a movie: its row of V S in the truncated singular value
/// decomposition U S V^T of the ratings of `feature_users` users (missing: 0), of dim - 1
/// components, then [Li19] Eq. (12). theta: least squares of each movie's mean rating over all
/// other users (missing: 0), in units of 5 stars. Where that leaves [0, 1], attractiveness is
/// shrunk and shifted into it, which changes no order. A movie that none of the feature users has
/// rated has no features, and the next most rated one takes its place.
/// FAILS: kInvalidArgument (too few users or movies)
Result<LinearWorld> make_movie_world(const MovieRatings& ratings, const MovieWorldParams& params,
                                     std::uint64_t seed);

}  // namespace hindsight
