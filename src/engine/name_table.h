// NameTable: texts numbered in the order of their first coming, and found again by text.
//
// Open addressing over 32-bit numbers, the texts in blocks of their own that never move: about 20
// bytes for each name beside its letters. A name may be given again to a later number: an item that
// was removed and added anew.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "src/core/bytes.h"

namespace hindsight {

class NameTable {
 public:
  static constexpr std::size_t kMaxNameBytes = 65'535;

  std::size_t size() const { return names_.size(); }

  /// RETURNS: the latest number under this name.
  std::optional<std::uint32_t> find(std::string_view name) const;

  /// REQUIRES: number < size()
  std::string_view name(std::uint32_t number) const;

  /// Gives the next number to `name`, whether or not an earlier number has it already.
  /// REQUIRES: at most kMaxNameBytes bytes. RETURNS: the number
  std::uint32_t add(std::string_view name);

  /// RETURNS: bytes of memory in use.
  std::size_t memory_bytes() const;

  void save(ByteWriter& out) const;
  /// RETURNS: false for bytes that make no sense.
  bool load(ByteReader& in);

 private:
  struct Slot {
    std::uint32_t number_plus_one = 0;  // 0: free
    std::uint32_t tag = 0;              // the high half of the hash
  };

  std::size_t slot_of(std::string_view name, std::uint64_t hash) const;
  const char* keep(std::string_view name);
  void grow();

  std::vector<Slot> slots_;         // a power of two, at most 3/4 full
  std::vector<const char*> names_;  // each a 16-bit length, then the letters
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t used_slots_ = 0;
  std::size_t block_left_ = 0;
  std::size_t block_bytes_ = 0;
  char* block_next_ = nullptr;
};

}  // namespace hindsight
