// Where an experiment's findings go beside the terminal: --json and --html.
//
// Thread-safety: one owner at a time.

#pragma once

#include <string>

#include "src/cli/output_file.h"
#include "src/sim/report.h"

namespace hindsight::cli {

class FindingsFiles {
 public:
  /// An empty path means that nothing is to be written. FAILS: kIo (the place cannot be written),
  /// kInvalidArgument (both are one file)
  static Result<FindingsFiles> prepare(const std::string& json, const std::string& html);

  /// Writes what is wanted, then prints the text. FAILS: kIo
  Result<void> write(const std::string& json, const Report& report, const std::string& text);

 private:
  FindingsFiles(OutputFile json, OutputFile html)
      : json_(std::move(json)), html_(std::move(html)) {}

  OutputFile json_;
  OutputFile html_;
};

}  // namespace hindsight::cli
