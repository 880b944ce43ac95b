// TLS: the certificate and its key, read from files and read again when they change.
//
// TLS 1.2 and 1.3 with forward secrecy and authenticated encryption only; no compression, no
// renegotiation. A pair that cannot be used is an error at the start; later the pair read before it
// stays in force, and warn says so. A certificate before its first or after its last day is used
// all the same, for there may be no other: warn says that clients refuse it.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "hindsight/result.h"

namespace hindsight {

struct TlsOptions {
  std::filesystem::path certificate;    // PEM: the server's first, then those that vouch for it
  std::filesystem::path key;            // PEM, not encrypted, not readable by other users
  std::function<std::int64_t()> clock;  // milliseconds since 1970
  std::int64_t look_every_ms = 1000;
  std::function<void(std::string_view)> warn = {};  // something an operator should know
};

struct CertificateStatus {
  std::int64_t not_before_s = 0;  // of the one in force, as unix time
  std::int64_t not_after_s = 0;
  bool unusable = false;  // what the files hold now is not in force, for it cannot be used
};

class TlsFiles {
 public:
  /// FAILS: kNotFound, kIo (unreadable), kParse (no PEM), kInvalidArgument (the key belongs to
  /// another certificate, or others may read it), each naming the setting as its field
  static Result<std::unique_ptr<TlsFiles>> open(TlsOptions options);
  ~TlsFiles();

  /// RETURNS: the state of one connection, with the pair that is in force; the caller frees it.
  /// Null: no memory.
  SSL* new_session() const;
  /// Looks at the files, if it is time to, and reads them when they have changed.
  void look_again();
  CertificateStatus status() const;

 private:
  class Impl;
  explicit TlsFiles(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hindsight
