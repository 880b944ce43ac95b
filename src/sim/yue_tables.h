// [Yue09] Tables 1 to 3: what the paper measured.

#pragma once

#include <array>
#include <cstddef>

namespace hindsight {

/// Table 1: the factors of delta, and the average regret of each problem P1 ... P5.
inline constexpr std::array<double, 5> kYueDeltaFactors = {0.6, 0.8, 1.0, 2.0, 3.0};
inline constexpr std::array<std::array<double, 5>, 5> kYueTable1 = {{
    {0.465, 0.398, 0.334, 0.303, 0.415},
    {0.803, 0.767, 0.760, 0.780, 0.807},
    {0.687, 0.628, 0.604, 0.637, 0.663},
    {0.500, 0.378, 0.325, 0.304, 0.418},
    {0.710, 0.663, 0.674, 0.798, 0.887},
}};

/// Table 2: average and final NDCG@10 on a web search training set; rows are delta, columns gamma.
inline constexpr std::array<double, 4> kYueDeltas = {0.5, 0.8, 1.0, 3.0};
inline constexpr std::array<double, 5> kYueGammas = {0.001, 0.005, 0.01, 0.05, 0.1};
inline constexpr std::array<std::array<double, 5>, 4> kYueTable2Average = {{
    {0.524, 0.570, 0.580, 0.569, 0.557},
    {0.533, 0.575, 0.582, 0.576, 0.566},
    {0.537, 0.575, 0.584, 0.577, 0.568},
    {0.529, 0.565, 0.573, 0.575, 0.571},
}};
inline constexpr std::array<std::array<double, 5>, 4> kYueTable2Final = {{
    {0.559, 0.591, 0.592, 0.569, 0.565},
    {0.564, 0.593, 0.593, 0.574, 0.559},
    {0.568, 0.592, 0.595, 0.582, 0.570},
    {0.557, 0.581, 0.582, 0.577, 0.576},
}};

/// Table 3: the ranking SVM, and the final models by queries compared per update.
struct YueTable3Column {
  std::size_t samples;
  double ndcg10;
  int win, tie, loss;  // queries, SVM against this model
};
inline constexpr double kYueTable3Svm = 0.612;
inline constexpr std::array<YueTable3Column, 6> kYueTable3 = {{
    {1, 0.596, 490, 121, 389},
    {5, 0.593, 489, 121, 390},
    {10, 0.589, 504, 118, 378},
    {25, 0.593, 489, 118, 393},
    {50, 0.596, 472, 119, 409},
    {100, 0.595, 490, 116, 394},
}};

}  // namespace hindsight
