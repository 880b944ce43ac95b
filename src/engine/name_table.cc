#include "src/engine/name_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kFirstBlockBytes = std::size_t{1} << 12;
constexpr std::size_t kLengthBytes = sizeof(std::uint16_t);

std::uint64_t hash_of(std::string_view name) { return XXH3_64bits(name.data(), name.size()); }
std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

std::string_view view_of(const char* kept) {
  std::uint16_t length = 0;
  std::memcpy(&length, kept, kLengthBytes);
  return {kept + kLengthBytes, length};
}

}  // namespace

std::size_t NameTable::slot_of(std::string_view name, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  while (
      slots_[i].number_plus_one != 0 &&
      (slots_[i].tag != tag_of(hash) || view_of(names_[slots_[i].number_plus_one - 1]) != name)) {
    i = (i + 1) & mask;
  }
  return i;
}

std::optional<std::uint32_t> NameTable::find(std::string_view name) const {
  if (slots_.empty()) {
    return std::nullopt;
  }
  const Slot& slot = slots_[slot_of(name, hash_of(name))];
  if (slot.number_plus_one == 0) {
    return std::nullopt;
  }
  return slot.number_plus_one - 1;
}

std::string_view NameTable::name(std::uint32_t number) const { return view_of(names_[number]); }

const char* NameTable::keep(std::string_view name) {
  const std::size_t size = kLengthBytes + name.size();
  if (size > block_left_) {
    // Small tables stay small; large ones ask for memory rarely.
    const std::size_t block =
        std::max(size, std::min(kBlockBytes, std::max(kFirstBlockBytes, names_.size() * 16)));
    blocks_.push_back(std::make_unique<char[]>(block));
    block_next_ = blocks_.back().get();
    block_left_ = block;
    block_bytes_ += block;
  }
  const auto length = static_cast<std::uint16_t>(name.size());
  char* const kept = block_next_;
  std::memcpy(kept, &length, kLengthBytes);
  std::copy(name.begin(), name.end(), kept + kLengthBytes);
  block_next_ += size;
  block_left_ -= size;
  return kept;
}

void NameTable::grow() {
  constexpr std::size_t kFirst = 16;
  std::vector<Slot> old(slots_.empty() ? kFirst : slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.number_plus_one != 0) {
      const std::string_view text = view_of(names_[slot.number_plus_one - 1]);
      slots_[slot_of(text, hash_of(text))] = slot;
    }
  }
}

std::uint32_t NameTable::add(std::string_view name) {
  HINDSIGHT_CHECK(name.size() <= kMaxNameBytes && names_.size() < 0xFFFFFFFE);
  if ((used_slots_ + 1) * 4 > slots_.size() * 3) {
    grow();
  }
  const std::uint64_t hash = hash_of(name);
  Slot& slot = slots_[slot_of(name, hash)];
  // An earlier number keeps its own copy of the letters alive through the blocks; share them.
  const char* kept = nullptr;
  if (slot.number_plus_one == 0) {
    kept = keep(name);
    ++used_slots_;
  } else {
    kept = names_[slot.number_plus_one - 1];
  }
  names_.push_back(kept);
  slot = {.number_plus_one = static_cast<std::uint32_t>(names_.size()), .tag = tag_of(hash)};
  return slot.number_plus_one - 1;
}

std::size_t NameTable::memory_bytes() const {
  return slots_.capacity() * sizeof(Slot) + names_.capacity() * sizeof(char*) + block_bytes_;
}

void NameTable::save(ByteWriter& out) const {
  out.put(static_cast<std::uint64_t>(names_.size()));
  for (const char* kept : names_) {
    const std::string_view text = view_of(kept);
    out.put(static_cast<std::uint16_t>(text.size()));
    out.put_raw(std::as_bytes(std::span(text)));
  }
}

bool NameTable::load(ByteReader& in) {
  *this = NameTable();
  std::uint64_t count = 0;
  in.get(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint16_t length = 0;
    in.get(length);
    const auto bytes = in.take(length);
    if (!in.ok()) {
      return false;
    }
    add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return in.ok();
}

}  // namespace hindsight
