// What every subcommand of the program shares.
//
// A subcommand NAME lives in NAME_command.h and NAME_command.cc. The header declares one function,
//
//   void add_NAME_command(CLI::App& app, int& exit_code);
//
// which adds the subcommand to `app` and gives it a callback that does the work and sets
// `exit_code`. `app` and `exit_code` outlive the parsing; the options' variables belong to the
// callback (a shared_ptr that it captures). main.cc calls the function in the order of the help.
//
// Exit codes: 0 done, 2 the user's input was at fault, 1 the machine failed; error_info() is the
// table. An error is one line on stderr; stdout carries results only.

#pragma once

#include <string_view>

#include "hindsight/result.h"

namespace hindsight::cli {

/// Prints "hindsight: MESSAGE" on one line of stderr; control characters are escaped.
void print_error(std::string_view message);

/// Prints the error. RETURNS: its exit code.
int fail(const Error& error);

}  // namespace hindsight::cli
