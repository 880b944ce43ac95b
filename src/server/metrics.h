// Metrics in Prometheus' text form: requests as they are counted here, collections as the engine
// knows them at the time of asking.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "src/engine/engine.h"
#include "src/server/principal.h"
#include "src/server/reply.h"
#include "src/server/routes.h"

namespace hindsight {

class AuditLog;
class FairShare;
class TlsFiles;
struct HttpCounters;

/// Who else counts something; null for what is not there.
struct WatchedParts {
  std::shared_ptr<const HttpCounters> server = nullptr;
  const AuditLog* audit = nullptr;
  const FairShare* waiting = nullptr;
  const TlsFiles* tls = nullptr;
};

class ApiMetrics {
 public:
  explicit ApiMetrics(std::string_view version);
  ~ApiMetrics();

  /// Notes an answered request; a null route stands for paths that are not known. Cheap: no label
  /// is looked up.
  void count(const Route* route, int status, double seconds);

  void count_refusal(Refusal reason);

  /// What else is shown. REQUIRES: they outlive the metrics
  void watch(WatchedParts parts);

  /// RETURNS: all metrics; of collections, those that the principal may know of.
  std::string text(const Engine& engine, const Principal& principal) const;

  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hindsight
