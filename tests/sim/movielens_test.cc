#include "src/sim/movielens.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace hindsight {
namespace {

/// Users of two tastes; the n-th movie is rated by fewer and fewer.
std::string ratings_text(std::size_t users, std::size_t movies) {
  std::string text = "userId,movieId,rating,timestamp\n";
  Rng rng(3);
  for (std::size_t u = 1; u <= users; ++u) {
    for (std::size_t m = 1; m <= movies; ++m) {
      if (rng.uniform() < 1.0 / (1.0 + 0.02 * static_cast<double>(m))) {
        const bool likes = (u % 2 == 0) == (m % 3 == 0);
        text += std::to_string(u) + "," + std::to_string(10 * m) + "," + (likes ? "4.5" : "2.0") +
                ",0\n";
      }
    }
  }
  return text;
}

TEST(MovieLens, ReadsRatings) {
  const auto ratings =
      *parse_ratings("userId,movieId,rating,timestamp\n7,30,4.0,1\n7,31,0.5,2\n9,30,5.0,3\n",
                     TextEncoding::kPlain);
  EXPECT_EQ(ratings.users, 2U);
  EXPECT_EQ(ratings.movies, 2U);
  ASSERT_EQ(ratings.ratings.size(), 3U);
  EXPECT_EQ(ratings.ratings[2].user, 1U);
  EXPECT_EQ(ratings.ratings[2].movie, 0U);
  EXPECT_EQ(ratings.ratings[1].stars, 0.5);
}

TEST(MovieLens, BadRatingsAreRefused) {
  const auto code = [](const std::string& row) {
    return parse_ratings("userId,movieId,rating\n" + row, TextEncoding::kPlain).error().code;
  };
  EXPECT_EQ(code(""), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("1,2,6\n"), ErrorCode::kParse);
  EXPECT_EQ(code("1,2,nan\n"), ErrorCode::kParse);
  EXPECT_EQ(code("1,x,3\n"), ErrorCode::kParse);
  EXPECT_EQ(code("-1,2,3\n"), ErrorCode::kParse);
  EXPECT_EQ(code("1,2\n"), ErrorCode::kParse);
}

TEST(MovieLens, MakesALinearWorldOfRatings) {
  const auto ratings = *parse_ratings(ratings_text(60, 80), TextEncoding::kPlain);
  const MovieWorldParams params{.movies = 50, .feature_users = 20, .dim = 4};
  const auto world = *make_movie_world(ratings, params, 5);
  EXPECT_EQ(world.items, 50U);
  EXPECT_EQ(world.dim, 4U);
  double low = 1.0;
  double high = 0.0;
  for (std::size_t i = 0; i < world.items; ++i) {
    double squared = 0.0;
    for (std::size_t c = 0; c < 4; ++c) {
      squared += world.features[i * 4 + c] * world.features[i * 4 + c];
    }
    EXPECT_NEAR(squared, 1.0, 1e-12);
    low = std::min(low, world.attraction[i]);
    high = std::max(high, world.attraction[i]);
  }
  EXPECT_LT(low, high);
  EXPECT_EQ(make_movie_world(ratings, params, 5)->features, world.features);
  EXPECT_NE(make_movie_world(ratings, params, 6)->features, world.features);
  EXPECT_FALSE(make_movie_world(ratings, {.movies = 81, .feature_users = 20}, 1).ok());
  EXPECT_FALSE(make_movie_world(ratings, {.movies = 50, .feature_users = 60}, 1).ok());
}

}  // namespace
}  // namespace hindsight
