// StatsStream: a collection's stats as server-sent events, one for each change.
//
//   event: stats
//   data: {"clicks":…}
//
// A comment goes out when nothing has changed for a while, so that proxies keep the connection. The
// stream ends when the collection is gone or the key has lost its right to it.
//
// Thread-safety: an object belongs to one connection.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/engine/engine.h"
#include "src/server/http.h"

namespace hindsight {

struct StatsStreamOptions {
  const Engine& engine;
  std::string collection;
  std::function<bool()> allowed;  // asked before every look: keys are revoked while streams run
  int heartbeat_periods = 15;     // a comment after so many periods without a change
};

std::unique_ptr<HttpStream> make_stats_stream(StatsStreamOptions options);

/// RETURNS: the stats as JSON, with both arms where the collection has two.
Result<std::string> current_stats(const Engine& engine, std::string_view collection,
                                  bool with_hash);

}  // namespace hindsight
