#include "src/cli/command.h"

#include <cstdio>
#include <string>

namespace hindsight::cli {

void print_error(std::string_view message) {
  // Names of files and parameters come from the user and may hold anything; the promise is one
  // line, and a terminal that is left as it was.
  std::string line;
  for (const char c : message) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r' || c == '\t') {
      line += ' ';
    } else if (code < 0x20 || code == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\x%02x", static_cast<unsigned>(code));
      line += escape;
    } else {
      line += c;
    }
  }
  std::fprintf(stderr, "hindsight: %s\n", line.c_str());
}

int fail(const Error& error) {
  print_error(to_string(error));
  return error_info(error.code).exit_code;
}

}  // namespace hindsight::cli
