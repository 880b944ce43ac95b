// Short words for tests that use a store.

#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/store/store.h"

namespace hindsight {

inline Payload to_payload(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline std::string to_text(const Payload& payload) {
  return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

inline std::vector<Payload> to_payloads(const std::vector<std::string>& texts) {
  std::vector<Payload> payloads;
  for (const std::string& text : texts) {
    payloads.push_back(to_payload(text));
  }
  return payloads;
}

inline std::vector<std::string> to_texts(const std::vector<LogEntry>& entries) {
  std::vector<std::string> texts;
  for (const LogEntry& entry : entries) {
    texts.push_back(to_text(entry.payload));
  }
  return texts;
}

/// RETURNS: "name7".
inline std::string numbered(std::string_view name, std::uint64_t number) {
  std::string text(name);
  text += std::to_string(number);
  return text;
}

/// Appends and waits.
inline Result<Position> append_and_wait(Store& store, LogId log,
                                        const std::vector<std::string>& texts) {
  std::promise<Result<Position>> promise;
  std::future<Result<Position>> answer = promise.get_future();
  store.append(log, to_payloads(texts),
               [&promise](Result<Position> result) { promise.set_value(std::move(result)); });
  return answer.get();
}

/// RETURNS: the whole log.
inline Result<std::vector<LogEntry>> read_all(const Store& store, LogId log) {
  std::vector<LogEntry> all;
  for (;;) {
    auto some = store.read(log, all.empty() ? 0 : all.back().position, 1000);
    if (!some.ok()) {
      return some.error();
    }
    if (some->empty()) {
      return all;
    }
    std::move(some->begin(), some->end(), std::back_inserter(all));
  }
}

}  // namespace hindsight
