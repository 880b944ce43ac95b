// Descriptors: how many files and sockets the process may have open, and how many of them
// connections may take.
//
// Thread-safety: raise_descriptor_limit() changes the whole process; call it before threads start.

#pragma once

#include <cstdint>

namespace hindsight {

/// Raises the limit as far as the system lets the process. RETURNS: the limit then.
std::uint64_t raise_descriptor_limit();

/// RETURNS: how many of the `wanted` connections leave enough of the descriptors to the log, the
/// snapshots and the key file: a flood of connections must not keep the server from reading them.
int connections_within(int wanted, std::uint64_t descriptors);

}  // namespace hindsight
