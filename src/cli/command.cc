#include "src/cli/command.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace hindsight::cli {

void print_error(std::string_view message) {
  std::string line(message);
  // Names of files and parameters come from the user and may hold anything; the promise is one
  // line.
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::fprintf(stderr, "hindsight: %s\n", line.c_str());
}

int fail(const Error& error) {
  print_error(to_string(error));
  return error_info(error.code).exit_code;
}

}  // namespace hindsight::cli
