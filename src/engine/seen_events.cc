#include "src/engine/seen_events.h"

#include <vector>

namespace hindsight {

bool SeenEvents::insert(const EventId& id) {
  Source& source = sources_[id.source];
  if (id.sequence <= source.through) {
    return false;
  }
  if (id.sequence == source.through + 1) {
    source.through = id.sequence;
  } else if (!source.later.insert(id.sequence).second) {
    return false;
  }
  while (!source.later.empty() &&
         (*source.later.begin() == source.through + 1 || source.later.size() > kReach)) {
    source.through = *source.later.begin();
    source.later.erase(source.later.begin());
  }
  return true;
}

void SeenEvents::save(ByteWriter& out) const {
  out.put(static_cast<std::uint32_t>(sources_.size()));
  for (const auto& [key, source] : sources_) {
    out.put(key);
    out.put(source.through);
    out.put(std::vector<std::uint64_t>(source.later.begin(), source.later.end()));
  }
}

bool SeenEvents::load(ByteReader& in) {
  sources_.clear();
  std::uint32_t count = 0;
  in.get(count);
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    std::uint64_t key = 0;
    in.get(key);
    Source& source = sources_[key];
    std::vector<std::uint64_t> later;
    in.get(source.through);
    in.get(later);
    source.later.insert(later.begin(), later.end());
    if (source.later.size() > kReach || source.later.size() != later.size()) {
      return false;
    }
  }
  return in.ok() && sources_.size() == count;
}

}  // namespace hindsight
