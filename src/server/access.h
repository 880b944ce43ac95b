// Who may do what: from an Authorization header to a yes or a no.
//
// The order of the checks keeps secrets: the role is judged by the route alone, then the scope by
// the key alone. Neither asks whether a collection exists, so a key without rights gets the same
// answer for a collection of others and for one that nobody has.
//
// Thread-safety: pure functions.

#pragma once

#include <optional>
#include <string_view>

#include "hindsight/result.h"
#include "src/server/principal.h"
#include "src/server/routes.h"

namespace hindsight {

/// RETURNS: KEY of "Bearer KEY", none for anything else.
std::optional<std::string_view> bearer_key(std::string_view authorization);

/// Whether a key's scope holds this collection.
bool in_scope(const Principal& principal, std::string_view collection);

/// FAILS: kForbidden (role, or the origin of a publishable key), kNotFound (out of scope)
Result<void> authorize(const Principal& principal, const Route& route, std::string_view collection,
                       std::string_view origin);

/// The answer for a collection that is not there or that the key may not know of.
Error no_such_collection();

}  // namespace hindsight
