// Tokens: ids that only this store can have issued, and identities that nobody can read back.
//
// A decision id, as callers see it, is (source, counter) with a 64-bit keyed MAC (SipHash-2-4) that
// also covers the log: it cannot be forged, nor carried to another collection. Users, sessions,
// groups and context keys are kept as keyed MACs only.
//
// Thread-safety: const functions may run concurrently.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hindsight/random.h"
#include "src/store/store.h"

namespace hindsight {

class Tokens {
 public:
  /// What a text names; the same text names different things in different places.
  enum class Kind : std::uint8_t { kUser = 1, kSession = 2, kGroup = 3, kContext = 4 };

  Tokens(const std::array<std::byte, 32>& secret, LogId log);
  ~Tokens();
  Tokens(Tokens&&) noexcept;
  Tokens& operator=(Tokens&&) = delete;

  /// "d_" and 32 letters.
  std::string decision_text(const DecisionId& id) const;

  struct Parsed {
    DecisionId id;
    bool issued_here = false;
  };
  /// RETURNS: none where the text does not have the form of a decision id.
  std::optional<Parsed> parse_decision(std::string_view text) const;

  /// RETURNS: 0 for an empty text, and never 0 for another.
  std::uint64_t identity(Kind kind, std::string_view text) const;

 private:
  struct Mac;
  std::unique_ptr<Mac> mac_;
  LogId log_;
};

}  // namespace hindsight
