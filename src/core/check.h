// CHECK and RETURN_IF_ERROR: a programmer's mistake aborts, an input's mistake is handed up.

#pragma once

#include <cstdio>
#include <cstdlib>

/// Aborts with the place and the condition. For mistakes in this program, never for bad input.
#define HINDSIGHT_CHECK(condition)                                                       \
  do {                                                                                   \
    if (!(condition)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

/// Returns the error of a Result from the enclosing function.
#define HINDSIGHT_RETURN_IF_ERROR(expression)         \
  do {                                                \
    if (auto result_ = (expression); !result_.ok()) { \
      return result_.error();                         \
    }                                                 \
  } while (false)

#define HINDSIGHT_CONCAT_INNER(a, b) a##b
#define HINDSIGHT_CONCAT(a, b) HINDSIGHT_CONCAT_INNER(a, b)

// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses
/// `HINDSIGHT_ASSIGN_OR_RETURN(auto x, f());` declares x, or returns f's error.
#define HINDSIGHT_ASSIGN_OR_RETURN(declaration, expression)   \
  auto HINDSIGHT_CONCAT(result_at_, __LINE__) = (expression); \
  if (!HINDSIGHT_CONCAT(result_at_, __LINE__).ok()) {         \
    return HINDSIGHT_CONCAT(result_at_, __LINE__).error();    \
  }                                                           \
  declaration = *std::move(HINDSIGHT_CONCAT(result_at_, __LINE__))
// NOLINTEND(bugprone-macro-parentheses)
