// Service: everything that runs behind one port, put together in the right order.
//
//   store ◄── engine ◄── API ◄── HTTP;  keys and limits beside them
//
// Thread-safety: one thread starts and stops it.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hindsight/result.h"
#include "src/server/config.h"
#include "src/server/key_file.h"
#include "src/server/log.h"

namespace hindsight {

class Engine;
class TlsFiles;

struct ServiceOptions {
  ServerConfig config;
  const Log& log;  // outlives the service
  std::string version = {};
  std::function<void(std::string_view)> at_point = {};  // see SqliteStoreOptions
};

/// RETURNS: the certificate that the settings name, null where they name none. FAILS: what TlsFiles
/// can say
Result<std::unique_ptr<TlsFiles>> open_tls(const ServerConfig& config,
                                           std::function<void(std::string_view)> warn = {});

class Service {
 public:
  /// Opens the data folder (made where it is missing), makes the first key, recovers, listens.
  /// FAILS: what check_config, the store, the engine, the key file and the port can say
  static Result<std::unique_ptr<Service>> start(ServiceOptions options);
  /// Stops, if stop was not called.
  ~Service();

  std::uint16_t port() const;
  /// REQUIRES: not stopped
  Engine& engine();
  /// RETURNS: the key that this start has made, if it was the first.
  const std::optional<NewKey>& first_key() const;

  /// Finishes requests under way, commits, takes snapshots, closes the store.
  void stop();

 private:
  class Impl;
  explicit Service(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hindsight
