// The console: one page, and the files that it names.

#include <algorithm>
#include <string>

#include "src/server/assets.h"
#include "src/server/handlers.h"

namespace hindsight {
namespace {

/// Only what comes from this server, and nothing that stands in the page itself, may run.
constexpr const char* kConsolePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace

void handle_front_page(ApiCall& call) {
  HttpResponse response = {.content_type = "text/html; charset=utf-8",
                           .body = std::string(console_page())};
  response.headers.emplace_back("Content-Security-Policy", kConsolePolicy);
  call.reply->send(std::move(response));
}

void handle_console_file(ApiCall& call) {
  const std::span<const ConsoleFile> files = console_files();
  const auto file = std::find_if(files.begin(), files.end(),
                                 [&](const ConsoleFile& one) { return one.name == call.id; });
  if (file == files.end()) {
    call.reply->fail(
        {ErrorCode::kNotFound, "the console has no such file; load its page anew", {}});
    return;
  }
  HttpResponse response = {.content_type = std::string(file->content_type),
                           .body = std::string(file->bytes)};
  // The name is made of the content's hash.
  response.headers.emplace_back("Cache-Control", "public, max-age=31536000, immutable");
  call.reply->send(std::move(response));
}

}  // namespace hindsight
