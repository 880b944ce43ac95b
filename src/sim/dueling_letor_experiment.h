// The experiment `dueling-letor`: [Yue09] Tables 2 and 3 on judged documents in five folds, and the
// methods that came after under simulated users.
//
//   sweep     DBGD through the link, delta x gamma, 100 queries compared per update (Table 2)
//   samples   the same with 1 to 100 queries per update, each with the gamma that is best on the
//             validation folds, query by query against the ranking SVM (Table 3)
//   clicks    dbgd, mgd and pdgd, interleaving or drawing lists of ten that three kinds of users
//             click in
//
// Fold f trains on parts f, f+1, f+2, validates on f+3 and tests on f+4, counted around: as LETOR
// does. Features are normalised within each query. Jobs go to threads, each with random numbers of
// its own, so that any number of threads gives the same figures.
//
// Thread-safety: functions of their arguments and of the files.

#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/sim/growing_library_experiment.h"
#include "src/sim/retrieval_duels.h"

namespace hindsight {

inline constexpr std::size_t kLetorFolds = 5;

/// The five parts of a data set.
struct LetorParts {
  std::string name;
  std::array<JudgedSet, kLetorFolds> parts;
};

/// Reads S1.txt ... S5.txt (or .zst) of a folder and normalises each query. FAILS: as read_letor;
/// kInvalidArgument (parts missing)
Result<LetorParts> read_letor_parts(const std::filesystem::path& folder);

struct DuelingLetorOptions {
  std::uint64_t link_rounds = 1'000'000;  // queries that each run of the link compares
  std::uint64_t click_rounds = 100'000;   // lists that each ranker shows
  std::uint64_t seed = 1;
  unsigned threads = 1;
  RoundsDone progress = {};
};

struct WinTieLoss {
  std::uint64_t win = 0;  // queries on which the SVM is better
  std::uint64_t tie = 0;
  std::uint64_t loss = 0;
};

/// One method with one setting; means over the folds.
struct DuelingLetorRow {
  std::string ranker;  // dbgd, mgd, pdgd, ranking-svm
  std::string clicks;  // link, perfect, navigational, informational; empty: it is told the grades
  std::optional<double> delta = {};
  std::optional<double> gamma = {};
  std::optional<std::uint64_t> samples = {};
  std::uint64_t rounds = 0;
  double ndcg10_train = 0.0;
  double ndcg10_vali = 0.0;
  double ndcg10_test = 0.0;
  std::optional<double> test_error = {};      // standard error over the folds
  std::optional<double> ndcg10_average = {};  // on the training queries, over all rounds
  std::optional<double> paper_average = {};   // Table 2
  std::optional<double> paper_final = {};
  std::optional<WinTieLoss> against_svm = {};  // Table 3, on the test queries of all folds
  std::vector<double> curve = {};              // test NDCG@10 after the rounds of `points`
};

struct DuelingLetorFindings {
  std::string data;
  std::uint64_t seed = 0;
  std::uint64_t link_rounds = 0;
  std::uint64_t click_rounds = 0;
  std::size_t queries = 0;
  std::size_t judged_queries = 0;
  std::size_t documents = 0;
  std::vector<double> svm_c;  // chosen on each fold
  std::vector<std::uint64_t> points;
  DuelingLetorRow svm;
  std::vector<DuelingLetorRow> sweep;    // delta by delta
  std::vector<DuelingLetorRow> samples;  // 1, 5, 10, 25, 50, 100
  std::vector<DuelingLetorRow> clicks;   // ranker by ranker
};

/// RETURNS: the rounds that will be reported as progress.
std::uint64_t total_rounds(const DuelingLetorOptions& options);

/// FAILS: kInvalidArgument (no rounds, runs or threads; a fold without relevant documents), or as
/// the rankers
Result<DuelingLetorFindings> run_dueling_letor(const LetorParts& data,
                                               const DuelingLetorOptions& options,
                                               const RankerFactory& factory);

}  // namespace hindsight
