// Gives arbitrary bytes to the parser of requests, in pieces as a network would. However they are
// cut, the same requests must come out: a parser that sees other requests in other pieces can be
// talked into one that nobody sent.

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/core/check.h"
#include "src/server/http_request_parser.h"

namespace {

namespace http = boost::beast::http;

constexpr std::size_t kHeaderLimit = 1024;
constexpr std::size_t kBodyLimit = 4096;

struct Outcome {
  bool failed = false;
  bool done = false;
  std::string text;  // of a request that is complete
};

/// Feeds up to `piece` more bytes at a time, as the server does.
Outcome parse(std::string_view bytes, std::size_t piece) {
  hindsight::RequestParser parser;
  parser.header_limit(kHeaderLimit);
  parser.body_limit(boost::none);
  parser.eager(false);
  Outcome outcome;
  std::size_t begin = 0;
  std::size_t end = 0;
  while (!parser.is_done()) {
    if (end == bytes.size()) {
      return outcome;
    }
    end = std::min(bytes.size(), end + piece);
    for (bool more = true; more && begin < end && !parser.is_done();) {
      boost::beast::error_code ec;
      const std::size_t used =
          parser.put(boost::asio::buffer(bytes.data() + begin, end - begin), ec);
      begin += used;
      if (ec && ec != http::error::need_more) {
        // A header within a few bytes of the limit is too long or not, depending on how it comes.
        outcome.failed = ec != http::error::header_limit;
        return outcome;
      }
      more = !ec && used > 0;
      if (parser.is_header_done() && !parser.eager()) {
        parser.eager(true);
        if (parser.content_length().value_or(0) > kBodyLimit) {
          outcome.failed = true;
          return outcome;
        }
        parser.body_limit(std::uint64_t{kBodyLimit});
      }
    }
  }
  HINDSIGHT_CHECK(parser.body().size() <= kBodyLimit);
  outcome.done = true;
  outcome.text = parser.method() + '\n' + parser.target() + '\n' + parser.authorization() + '\n' +
                 parser.body();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = parse(bytes, bytes.size());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}}) {
    const Outcome cut = parse(bytes, piece);
    if (whole.done && cut.done) {
      HINDSIGHT_CHECK(cut.text == whole.text);
    }
    HINDSIGHT_CHECK(!whole.done || !cut.failed);
    HINDSIGHT_CHECK(!cut.done || !whole.failed);
  }
  return 0;
}
