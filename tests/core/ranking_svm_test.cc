#include "src/core/ranking_svm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hindsight/random.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

struct Sample {
  std::size_t dim = 3;
  std::vector<double> features;
  std::vector<double> grades;
  std::vector<std::size_t> begin = {0};

  GradedDocuments view() const { return {dim, features, grades, begin}; }
  std::span<const double> row(std::size_t i) const {
    return std::span(features).subspan(i * dim, dim);
  }
};

// Some queries with many grades, ties in score, constant features, one document, none relevant.
Sample make_sample(Rng& rng) {
  Sample sample;
  const std::size_t queries = 1 + rng.below(4);
  for (std::size_t q = 0; q < queries; ++q) {
    const std::size_t n = 1 + rng.below(12);
    const std::uint64_t grades = 1 + rng.below(5);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < sample.dim; ++j) {
        sample.features.push_back(j == 2 ? 1.0 : static_cast<double>(rng.below(4)) * 0.5 - 0.7);
      }
      sample.grades.push_back(static_cast<double>(rng.below(grades)));
    }
    sample.begin.push_back(sample.grades.size());
  }
  return sample;
}

// The definition, pair by pair.
double slow_value(const Sample& sample, double c, const std::vector<double>& w,
                  std::vector<double>& gradient, const std::vector<double>& v,
                  std::vector<double>& product) {
  gradient = w;
  product = v;
  double loss = 0.0;
  for (std::size_t q = 0; q + 1 < sample.begin.size(); ++q) {
    for (std::size_t i = sample.begin[q]; i < sample.begin[q + 1]; ++i) {
      for (std::size_t j = sample.begin[q]; j < sample.begin[q + 1]; ++j) {
        const double hinge = 1.0 - dot(sample.row(i), w) + dot(sample.row(j), w);
        if (sample.grades[i] <= sample.grades[j] || hinge <= 0.0) {
          continue;
        }
        loss += hinge * hinge;
        const double along = dot(sample.row(i), v) - dot(sample.row(j), v);
        for (std::size_t k = 0; k < sample.dim; ++k) {
          const double difference = sample.row(i)[k] - sample.row(j)[k];
          gradient[k] -= 2.0 * c * hinge * difference;
          product[k] += 2.0 * c * along * difference;
        }
      }
    }
  }
  return 0.5 * dot(w, w) + c * loss;
}

TEST(RankingSvm, AgreesWithTheSumOverAllPairs) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const Sample sample = make_sample(rng);
    const double c = 0.1 + rng.uniform();
    RankingSvmObjective objective(sample.view(), c);
    std::vector<double> w(3);
    std::vector<double> v(3);
    for (std::size_t i = 0; i < 3; ++i) {
      w[i] = round % 5 == 0 ? 0.0 : rng.normal();  // at 0 all scores are ties
      v[i] = rng.normal();
    }
    std::vector<double> gradient(3);
    std::vector<double> product(3);
    const double value = objective.evaluate(w, gradient);
    objective.hessian_times(v, product);
    std::vector<double> slow_gradient;
    std::vector<double> slow_product;
    const double slow = slow_value(sample, c, w, slow_gradient, v, slow_product);
    EXPECT_NEAR(value, slow, 1e-9 * (1.0 + slow));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(gradient[i], slow_gradient[i], 1e-9 * (1.0 + slow));
      EXPECT_NEAR(product[i], slow_product[i], 1e-9 * (1.0 + slow));
    }
  }
}

TEST(RankingSvm, FindsTheMinimum) {
  Rng rng(2);
  int trained = 0;
  for (int round = 0; round < 40; ++round) {
    const Sample sample = make_sample(rng);
    const auto result = train_ranking_svm(sample.view(), 0.3);
    if (!result.ok()) {
      EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);  // nothing to learn
      continue;
    }
    ++trained;
    EXPECT_TRUE(result->converged);
    RankingSvmObjective objective(sample.view(), 0.3);
    std::vector<double> gradient(3);
    objective.evaluate(result->theta, gradient);
    EXPECT_LT(std::sqrt(dot(gradient, gradient)), 1e-3);
  }
  EXPECT_GT(trained, 20);
}

TEST(RankingSvm, OrdersDocumentsThatALineCanOrder) {
  Sample sample;
  Rng rng(3);
  for (std::size_t i = 0; i < 60; ++i) {
    const double x = rng.normal();
    sample.features.insert(sample.features.end(), {x, rng.normal(), 1.0});
    sample.grades.push_back(x > 0.5 ? 2.0 : x > -0.5 ? 1.0 : 0.0);
  }
  sample.begin.push_back(60);
  const auto result = train_ranking_svm(sample.view(), 1e3);
  ASSERT_TRUE(result.ok());
  int wrong = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t j = 0; j < 60; ++j) {
      wrong += sample.grades[i] > sample.grades[j] &&
                       dot(sample.row(i), result->theta) <= dot(sample.row(j), result->theta)
                   ? 1
                   : 0;
    }
  }
  EXPECT_LE(wrong, 20);  // of about 1,200 pairs; near the borders noise may win
}

TEST(RankingSvm, RefusesWhatCannotBeLearned) {
  Sample sample{.dim = 1, .features = {1.0, 2.0}, .grades = {1.0, 1.0}, .begin = {0, 2}};
  EXPECT_EQ(train_ranking_svm(sample.view(), 1.0).error().code, ErrorCode::kInvalidArgument);
  sample.grades = {0.0, 1.0};
  EXPECT_TRUE(train_ranking_svm(sample.view(), 1.0).ok());
  EXPECT_EQ(train_ranking_svm(sample.view(), 0.0).error().field, "c");
  sample.features[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(train_ranking_svm(sample.view(), 1.0).error().code, ErrorCode::kNotFinite);
  sample.features = {1.0};
  EXPECT_EQ(train_ranking_svm(sample.view(), 1.0).error().field, "documents");
}

}  // namespace
}  // namespace hindsight
