// ByteWriter and ByteReader: little-endian values in a byte buffer, the same on every machine.
//
// The reader never trusts a length: a vector longer than what is left is an error before anything
// is allocated. After the first failure every further read fails too, so that a caller may read a
// whole record and ask ok() once.
//
// Thread-safety: none needed; one owner at a time.

#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hindsight/result.h"

static_assert(std::endian::native == std::endian::little,
              "big-endian machines need a byte swap here");

namespace hindsight {

/// No saved counter is greater: what loads can be counted up for ever without wrapping around.
inline constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 62;

/// Counts up, and stays at the end of the range.
inline void count_up(std::uint64_t& counter, std::uint64_t by = 1) {
  counter = by > kMaxCount || counter > kMaxCount - by ? kMaxCount : counter + by;
}

template <class T>
concept Scalar = std::is_arithmetic_v<T>;

class ByteWriter {
 public:
  using Sink = std::function<void(std::span<const std::byte>)>;

  ByteWriter() = default;
  /// Keeps nothing: what is put goes to `sink`, in pieces, and the last of it with flush().
  explicit ByteWriter(Sink sink);

  template <Scalar T>
  void put(T value) {
    put_raw(std::as_bytes(std::span(&value, 1)));
  }

  void put(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    put_raw(std::as_bytes(std::span(text)));
  }

  template <Scalar T>
  void put(std::span<const T> values) {
    put(static_cast<std::uint64_t>(values.size()));
    put_raw(std::as_bytes(values));
  }

  template <Scalar T>
  void put(const std::vector<T>& values) {
    put(std::span<const T>(values));
  }

  void put_raw(std::span<const std::byte> raw);

  /// REQUIRES: there is a sink
  void flush();

  /// Makes room for `size` bytes at once.
  void reserve(std::size_t size) { bytes_.reserve(size); }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  Sink sink_;
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <Scalar T>
  bool get(T& value) {
    if (!can_take(sizeof(T))) {
      return false;
    }
    if constexpr (std::is_same_v<T, bool>) {
      const auto raw = static_cast<std::uint8_t>(rest_[0]);
      ok_ = raw <= 1;
      value = raw == 1;
    } else {
      std::memcpy(&value, rest_.data(), sizeof(T));
    }
    rest_ = rest_.subspan(sizeof(T));
    return ok_;
  }

  bool get(std::string& text) {
    std::uint64_t size = 0;
    if (!get(size) || !can_take(size)) {
      return false;
    }
    text.assign(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
    return true;
  }

  template <Scalar T>
  bool get(std::vector<T>& values) {
    static_assert(!std::is_same_v<T, bool>);
    std::uint64_t size = 0;
    if (!get(size) || size > rest_.size() / sizeof(T)) {
      return ok_ = false;
    }
    values.resize(size);
    if (size > 0) {
      std::memcpy(values.data(), rest_.data(), size * sizeof(T));
    }
    rest_ = rest_.subspan(size * sizeof(T));
    return true;
  }

  /// RETURNS: the next `size` bytes, or nothing when there are fewer.
  std::span<const std::byte> take(std::size_t size) {
    if (!can_take(size)) {
      return {};
    }
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

  bool ok() const { return ok_; }
  std::size_t left() const { return rest_.size(); }

  /// RETURNS: ok, or kCorrupt naming what was read.
  Result<void> check(std::string_view what) const;

 private:
  bool can_take(std::uint64_t size) { return ok_ = ok_ && size <= rest_.size(); }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace hindsight
