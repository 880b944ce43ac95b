#include "src/cli/findings_files.h"

#include <cstdio>
#include <utility>

#include "src/core/check.h"

namespace hindsight::cli {

Result<FindingsFiles> FindingsFiles::prepare(const std::string& json, const std::string& html) {
  HINDSIGHT_ASSIGN_OR_RETURN(OutputFile json_file, OutputFile::prepare(json));
  HINDSIGHT_ASSIGN_OR_RETURN(OutputFile html_file, OutputFile::prepare(html));
  if (json_file.same_as(html_file)) {
    return Error{ErrorCode::kInvalidArgument, "must be another file than that of --json", "html"};
  }
  return FindingsFiles(std::move(json_file), std::move(html_file));
}

Result<void> FindingsFiles::write(const std::string& json, const Report& report,
                                  const std::string& text) {
  if (json_.wanted()) {
    HINDSIGHT_RETURN_IF_ERROR(json_.write(json));
  }
  if (html_.wanted()) {
    HINDSIGHT_RETURN_IF_ERROR(html_.write(render_html(report)));
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

}  // namespace hindsight::cli
