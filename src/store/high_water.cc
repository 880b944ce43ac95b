#include "src/store/high_water.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/store/checksums.h"
#include "src/store/file_sync.h"

namespace hindsight {
namespace {

constexpr std::string_view kMagic = "HSHWMARK";
constexpr std::uint64_t kVersion = 1;
// A slot is what a device writes at once, so that a torn write reaches one slot only.
constexpr std::size_t kSlotBytes = 4096;

struct Slot {
  std::uint64_t sequence = 0;
  Mark mark;
};

std::vector<std::byte> encode(const Slot& slot) {
  ByteWriter out;
  out.put_raw(std::as_bytes(std::span(kMagic)));
  out.put(kVersion);
  out.put(slot.sequence);
  out.put_raw(slot.mark.store);
  out.put(slot.mark.epoch);
  out.put(slot.mark.commits);
  out.put(slot.mark.entries);
  out.put(slot.mark.digest);
  out.put(hash_bytes(out.bytes()));
  return out.take();
}

/// RETURNS: the slot, or none where it is damaged. FAILS: kNewerVersion
Result<std::optional<Slot>> decode(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const auto magic = in.take(kMagic.size());
  std::uint64_t version = 0;
  in.get(version);
  if (!in.ok() || std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
    return std::optional<Slot>();
  }
  Slot slot;
  in.get(slot.sequence);
  const auto store = in.take(slot.mark.store.size());
  in.get(slot.mark.epoch);
  in.get(slot.mark.commits);
  in.get(slot.mark.entries);
  in.get(slot.mark.digest);
  const std::size_t summed = bytes.size() - in.left();
  std::uint64_t checksum = 0;
  in.get(checksum);
  if (!in.ok() || checksum != hash_bytes(bytes.first(summed))) {
    return std::optional<Slot>();
  }
  if (version != kVersion) {
    return Error{ErrorCode::kNewerVersion, "was written by a newer Hindsight", ""};
  }
  std::memcpy(slot.mark.store.data(), store.data(), store.size());
  return std::optional<Slot>(slot);
}

/// RETURNS: the newest slot that is whole, or none where there is no file.
Result<std::optional<Slot>> read_newest(const std::filesystem::path& file) {
  const Result<std::vector<std::byte>> bytes = read_file(file);
  if (!bytes.ok()) {
    if (bytes.error().code == ErrorCode::kNotFound) {
      return std::optional<Slot>();
    }
    return bytes.error();
  }
  std::optional<Slot> newest;
  for (std::size_t begin = 0; begin < 2 * kSlotBytes && begin < bytes->size();
       begin += kSlotBytes) {
    auto slot = decode(std::span(*bytes).subspan(begin));
    if (!slot.ok()) {
      return Error{slot.error().code, file.string() + " " + slot.error().message, ""};
    }
    if (slot->has_value() && (!newest || (*slot)->sequence > newest->sequence)) {
      newest = *slot;
    }
  }
  if (!newest) {
    return Error{ErrorCode::kCorrupt, file.string() + " is damaged", ""};
  }
  return newest;
}

}  // namespace

HighWater::HighWater(std::filesystem::path file, Sync sync)
    : file_(std::move(file)), sync_(sync ? std::move(sync) : Sync(::fdatasync)) {}

HighWater::~HighWater() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Result<std::optional<Mark>> HighWater::peek(const std::filesystem::path& file) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::optional<Slot> newest, read_newest(file));
  return newest ? std::optional<Mark>(newest->mark) : std::nullopt;
}

Result<std::optional<Mark>> HighWater::load() {
  // What a kill left of create().
  ::unlink((file_.string() + ".part").c_str());
  HINDSIGHT_ASSIGN_OR_RETURN(const std::optional<Slot> newest, read_newest(file_));
  if (!newest) {
    return std::optional<Mark>();
  }
  sequence_ = newest->sequence;
  HINDSIGHT_RETURN_IF_ERROR(open_file());
  return std::optional<Mark>(newest->mark);
}

Result<void> HighWater::create(const Mark& mark) {
  if (fd_ >= 0) {
    ::close(fd_);
    fd_ = -1;
  }
  sequence_ += 1;
  // Both slots at their places from the start: writing one never changes the file's size.
  std::vector<std::byte> bytes(2 * kSlotBytes);
  const std::vector<std::byte> slot = encode({sequence_, mark});
  std::memcpy(bytes.data() + (sequence_ % 2) * kSlotBytes, slot.data(), slot.size());
  HINDSIGHT_RETURN_IF_ERROR(replace_file(file_, bytes));
  return open_file();
}

Result<void> HighWater::open_file() {
  if (fd_ < 0 && !fails_in_test(FileStep::kOpen)) {
    fd_ = ::open(file_.c_str(), O_RDWR | O_CLOEXEC);
  }
  // A file that was cut gets its size back before the first slot is written.
  if (fd_ < 0 || fails_in_test(FileStep::kTruncate) || ::ftruncate(fd_, 2 * kSlotBytes) != 0) {
    return Error{ErrorCode::kIo, "cannot open " + file_.string() + ": " + std::strerror(errno), ""};
  }
  return {};
}

Result<void> HighWater::write(const Mark& mark) {
  HINDSIGHT_CHECK(fd_ >= 0);
  sequence_ += 1;
  const std::vector<std::byte> bytes = encode({sequence_, mark});
  const bool sync = !planted(Fault::kSkipMarkSync);
  if (!write_at(fd_, bytes, (sequence_ % 2) * kSlotBytes) ||
      (sync && (fails_in_test(FileStep::kSync) || sync_(fd_) != 0))) {
    return Error{ErrorCode::kIo, "cannot write " + file_.string() + ": " + std::strerror(errno),
                 ""};
  }
  return {};
}

}  // namespace hindsight
