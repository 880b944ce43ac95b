// Pieces that several answers have in common.
//
// Thread-safety: pure functions.

#pragma once

#include "hindsight/params.h"
#include "src/server/json_writer.h"

namespace hindsight {

/// {"alpha":3,"restart":"warm"}
void write_params(JsonWriter& json, const ParamMap& params);

}  // namespace hindsight
