// A collection's settings in bytes, the same in events and in snapshots.
//
// Thread-safety: pure functions.

#pragma once

#include "src/core/bytes.h"
#include "src/engine/api.h"

namespace hindsight {

void put_config(ByteWriter& out, const CollectionConfig& config);
/// RETURNS: false, with the reader failed or a value out of its range.
bool get_config(ByteReader& in, CollectionConfig& config);

}  // namespace hindsight
