// Judged documents for learning to rank: queries, each with documents, their features and grades.
//
// Two layouts of svmlight lines are read, plain or compressed by zstd (".zst"):
//
//   LETOR      `grade qid:NAME 1:x 2:x ... # comment`; lines of one query stand together
//   LightGBM   `grade 1:x 2:x ...`, and beside it a file NAME.query with the number of lines of
//              each query, one per line
//
// Features that a line does not name are 0; the columns of a data set are those up to the highest
// number that any of its lines names. Blank lines and lines of a comment alone are passed over. A
// line that is broken ends the reading, with file, line and reason: a grade that is no number from
// 0 to 1000, numbers that are not finite, feature numbers that do not ascend from 1 or are above
// 65,536, a query that comes back after another, a line longer than 1 MiB.
//
// Thread-safety: plain values; functions of their arguments and of the files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

struct JudgedQuery {
  std::string name;
  std::vector<double> features;  // documents * dim numbers, document after document
  std::vector<double> grades;    // one per document

  std::size_t documents() const { return grades.size(); }
  /// Whether NDCG can judge an order of it.
  bool has_relevant() const;
};

struct JudgedSet {
  std::size_t dim = 0;
  std::vector<JudgedQuery> queries;

  std::size_t documents() const;
  std::span<const double> row(std::size_t query, std::size_t document) const {
    return std::span(queries[query].features).subspan(document * dim, dim);
  }
};

/// Reads LETOR lines from memory; `name` stands in messages. FAILS: kParse
Result<JudgedSet> parse_letor(std::string_view text, const std::string& name);

/// Reads lines without qid, and the number of lines of each query. FAILS: kParse
Result<JudgedSet> parse_letor(std::string_view text, std::string_view query_sizes,
                              const std::string& name);

/// Reads a file; `NAME.query` (or `NAME.query.zst`) beside `NAME` (or `NAME.zst`) is taken for the
/// query sizes. FAILS: as parse_letor; kInvalidArgument (no such file), kIo, kCorrupt (zstd),
/// kTooLarge (more than 1 GiB of text)
Result<JudgedSet> read_letor(const std::filesystem::path& path);

/// RETURNS: the queries of all sets; the columns are those of the widest. Queries keep their names.
JudgedSet join_sets(std::span<const JudgedSet* const> sets);

/// Query-level normalisation, as LETOR does it: within a query each feature goes to
/// (x - least) / (greatest - least); one that is the same in all its documents becomes 0.
void normalise_queries(JudgedSet& set);

}  // namespace hindsight
