#include "src/server/service.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/core/check.h"
#include "src/engine/background.h"
#include "src/engine/engine.h"
#include "src/server/api_handler.h"
#include "src/server/audit.h"
#include "src/server/forwarded.h"
#include "src/server/http_server.h"
#include "src/server/keys.h"
#include "src/server/rate_limit.h"
#include "src/server/request_lines.h"
#include "src/server/tls.h"
#include "src/store/sqlite_store.h"

namespace hindsight {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kMsPerSecond = 1000;

HttpServerOptions http_options(const ServerConfig& config) {
  return {.address = config.address,
          .port = config.port,
          .threads = config.threads,
          .max_header_bytes = config.max_header_bytes,
          .max_connections = config.max_connections,
          .max_handshakes = config.max_handshakes,
          .max_body_bytes = config.max_body_memory,
          .max_wait = milliseconds(config.max_wait_ms),
          .handshake_deadline = milliseconds(config.handshake_deadline_ms),
          .header_deadline = milliseconds(config.header_deadline_ms),
          .body_deadline = milliseconds(config.body_deadline_ms),
          .idle_deadline = milliseconds(config.idle_deadline_ms),
          .write_deadline = milliseconds(config.write_deadline_ms)};
}

}  // namespace

class Service::Impl {
 public:
  explicit Impl(ServiceOptions options)
      : options_(std::move(options)),
        request_lines_(options_.log, system_clock_ms),
        address_limit_({.per_second = config().address_rate, .burst = config().address_burst}),
        collection_limit_(
            {.per_second = config().collection_rate, .burst = config().collection_burst}),
        key_limit_({.per_second = config().key_rate, .burst = config().key_burst}),
        publishable_limit_(
            {.per_second = config().publishable_rate, .burst = config().publishable_burst}) {}

  ~Impl() { stop(); }

  Result<void> start() {
    HINDSIGHT_RETURN_IF_ERROR(check_config(config()));
    HINDSIGHT_ASSIGN_OR_RETURN(proxies_, TrustedProxies::parse(config().trusted_proxies));
    HINDSIGHT_ASSIGN_OR_RETURN(tls_, open_tls(config(), warning()));
    HINDSIGHT_RETURN_IF_ERROR(open_engine());
    make_handler();
    HINDSIGHT_RETURN_IF_ERROR(listen());
    options_.log.write(LogLevel::kInfo, "serving",
                       {{"address", std::string_view(config().address)},
                        {"port", std::int64_t{server_->port()}},
                        {"data", std::string_view(config().data)}});
    return {};
  }

  void stop() {
    if (server_) {
      options_.log.write(LogLevel::kInfo, "stopping");
      server_->shut_down(milliseconds(config().drain_deadline_ms));
    }
    // The engine goes before the handler, for its last answers still pass through it.
    engine_.reset();
    server_.reset();
    handler_.reset();
    if (store_) {
      store_.reset();
      options_.log.write(LogLevel::kInfo, "stopped");
    }
  }

  std::uint16_t port() const { return server_->port(); }
  Engine& engine() { return *engine_; }
  const std::optional<NewKey>& first_key() const { return first_key_; }

 private:
  const ServerConfig& config() const { return options_.config; }

  std::function<void(std::string_view)> telling(LogLevel level) const {
    return [&log = options_.log, level](std::string_view text) { log.write(level, text); };
  }
  std::function<void(std::string_view)> warning() const { return telling(LogLevel::kWarning); }

  /// What works behind the answers: store, keys, engine.
  Result<void> open_engine() {
    const BackgroundThreads behind;
    HINDSIGHT_RETURN_IF_ERROR(open_store());
    HINDSIGHT_ASSIGN_OR_RETURN(audit_, AuditLog::open({.folder = config().data,
                                                       .clock = system_clock_ms,
                                                       .max_bytes = config().audit_bytes,
                                                       .warn = warning()}));
    HINDSIGHT_RETURN_IF_ERROR(open_keys());
    EngineOptions engine_options;
    engine_options.learner_threads = config().learner_threads;
    engine_options.snapshot_events = config().snapshot_events;
    engine_options.snapshot_ms = config().snapshot_seconds * kMsPerSecond;
    engine_options.max_backlog = config().max_backlog;
    engine_options.insight_share = config().insight_share;
    engine_options.warn = warning();
    engine_options.alarm = telling(LogLevel::kError);
    HINDSIGHT_ASSIGN_OR_RETURN(engine_, Engine::open(*store_, std::move(engine_options)));
    return {};
  }

  Result<void> open_store() {
    SqliteStoreOptions store_options;
    store_options.folder = config().data;
    store_options.node = config().node;
    store_options.accept_lost_end = config().accept_lost_end;
    store_options.at_point = options_.at_point;
    store_options.warn = warning();
    HINDSIGHT_ASSIGN_OR_RETURN(store_, open_sqlite_store(store_options));
    return {};
  }

  Result<void> open_keys() {
    HINDSIGHT_ASSIGN_OR_RETURN(first_key_, ensure_admin_key(config().data, system_clock_ms()));
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogInfo> logs, store_->logs());
    if (first_key_ && !logs.empty()) {
      warning()(
          "keys.toml was missing: a new admin key was made, and no key from before opens anything");
    }
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<KeyRecord> keys, list_keys(config().data));
    if (std::none_of(keys.begin(), keys.end(), [](const KeyRecord& key) {
          return key.principal.role == Role::kAdmin && !key.revoked_ms;
        })) {
      warning()("no admin key is in force; make one with `hindsight key add --role admin`");
    }
    HINDSIGHT_ASSIGN_OR_RETURN(keys_,
                               KeyRing::open({.folder = config().data,
                                              .clock = system_clock_ms,
                                              .warn = warning(),
                                              .changed = [this](std::string_view what) {
                                                audit_->write({.route = "keys", .detail = what});
                                              }}));
    return {};
  }

  Result<void> listen() {
    HttpServerOptions http = http_options(config());
    http.tls = tls_.get();
    http.counters = counters_;
    if (!proxies_.empty()) {
      http.client_address = [this](const HttpRequest& request) {
        return proxies_.client_address(request.peer, request.forwarded_for, request.forwarded);
      };
    }
    HINDSIGHT_ASSIGN_OR_RETURN(server_, HttpServer::start(std::move(http), *handler_));
    return {};
  }

  static RateVerdict take_for(RateLimiter& limit, std::string_view who, bool unless_ahead) {
    return limit.take(who, system_clock_ms(), unless_ahead);
  }

  void make_handler() {
    ApiOptions api{.engine = *engine_, .keys = *keys_};
    api.version = options_.version;
    api.cors_origins = config().cors_origins;
    if (config().address_rate > 0.0) {
      api.address_limit = [this](std::string_view address, bool unless_ahead) {
        return take_for(address_limit_, address_bucket(address), unless_ahead);
      };
    }
    if (config().collection_rate > 0.0) {
      api.collection_limit = [this](std::string_view name, bool unless_ahead) {
        return take_for(collection_limit_, name, unless_ahead);
      };
    }
    api.publishable_limit = [this](std::string_view address, bool unless_ahead) {
      return take_for(publishable_limit_, address_bucket(address), unless_ahead);
    };
    api.key_limit = [this](std::string_view id, bool unless_ahead) {
      return take_for(key_limit_, id, unless_ahead);
    };
    api.max_waiting = config().max_waiting;
    api.audit = audit_.get();
    api.counters = counters_;
    api.tls = tls_.get();
    api.log = [this](const AccessRecord& record) { request_lines_.write(record); };
    handler_ = std::make_unique<ApiHandler>(std::move(api));
  }

  const ServiceOptions options_;
  RequestLines request_lines_;
  RateLimiter address_limit_;
  RateLimiter collection_limit_;
  RateLimiter key_limit_;
  RateLimiter publishable_limit_;
  std::optional<NewKey> first_key_;
  const std::shared_ptr<HttpCounters> counters_ = std::make_shared<HttpCounters>();
  TrustedProxies proxies_;
  std::unique_ptr<TlsFiles> tls_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<AuditLog> audit_;
  std::unique_ptr<KeyRing> keys_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<ApiHandler> handler_;
  std::unique_ptr<HttpServer> server_;
};

Result<std::unique_ptr<TlsFiles>> open_tls(const ServerConfig& config,
                                           std::function<void(std::string_view)> warn) {
  if (config.tls_cert.empty()) {
    return std::unique_ptr<TlsFiles>();
  }
  return TlsFiles::open({.certificate = config.tls_cert,
                         .key = config.tls_key,
                         .clock = system_clock_ms,
                         .warn = std::move(warn)});
}

Service::Service(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Service::~Service() = default;

Result<std::unique_ptr<Service>> Service::start(ServiceOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  HINDSIGHT_RETURN_IF_ERROR(impl->start());
  return std::unique_ptr<Service>(new Service(std::move(impl)));
}

Engine& Service::engine() { return impl_->engine(); }
std::uint16_t Service::port() const { return impl_->port(); }
const std::optional<NewKey>& Service::first_key() const { return impl_->first_key(); }
void Service::stop() { impl_->stop(); }

}  // namespace hindsight
