#include "src/server/service.h"

#include <chrono>
#include <utility>

#include "src/core/check.h"
#include "src/engine/engine.h"
#include "src/server/api_handler.h"
#include "src/server/http_server.h"
#include "src/server/keys.h"
#include "src/server/rate_limit.h"
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
          .header_deadline = milliseconds(config.header_deadline_ms),
          .body_deadline = milliseconds(config.body_deadline_ms),
          .idle_deadline = milliseconds(config.idle_deadline_ms),
          .write_deadline = milliseconds(config.write_deadline_ms)};
}

void log_access(const Log& log, const AccessRecord& record) {
  constexpr int kServerError = 500;
  log.write(record.status >= kServerError ? LogLevel::kWarning : LogLevel::kDebug, "request",
            {{"method", record.method},
             {"route", record.route},
             {"status", std::int64_t{record.status}},
             {"error", record.error},
             {"seconds", record.seconds},
             {"key", record.key},
             {"peer", record.peer}});
}

}  // namespace

class Service::Impl {
 public:
  explicit Impl(ServiceOptions options)
      : options_(std::move(options)),
        key_limit_({.per_second = config().key_rate, .burst = config().key_burst}),
        publishable_limit_(
            {.per_second = config().publishable_rate, .burst = config().publishable_burst}) {}

  ~Impl() { stop(); }

  Result<void> start() {
    HINDSIGHT_RETURN_IF_ERROR(check_config(config()));
    HINDSIGHT_RETURN_IF_ERROR(open_store());
    HINDSIGHT_RETURN_IF_ERROR(open_keys());
    EngineOptions engine_options;
    engine_options.learner_threads = config().learner_threads;
    engine_options.snapshot_events = config().snapshot_events;
    engine_options.snapshot_ms = config().snapshot_seconds * kMsPerSecond;
    engine_options.warn = warning();
    HINDSIGHT_ASSIGN_OR_RETURN(engine_, Engine::open(*store_, std::move(engine_options)));
    make_handler();
    HINDSIGHT_ASSIGN_OR_RETURN(server_, HttpServer::start(http_options(config()), *handler_));
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

  std::function<void(std::string_view)> warning() const {
    return [&log = options_.log](std::string_view text) { log.write(LogLevel::kWarning, text); };
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
    HINDSIGHT_ASSIGN_OR_RETURN(
        keys_,
        KeyRing::open({.folder = config().data, .clock = system_clock_ms, .warn = warning()}));
    return {};
  }

  void make_handler() {
    ApiOptions api{.engine = *engine_, .keys = *keys_};
    api.version = options_.version;
    api.cors_origins = config().cors_origins;
    api.publishable_limit = [this](std::string_view address) {
      return publishable_limit_.take(address_bucket(address), system_clock_ms());
    };
    api.key_limit = [this](std::string_view id) { return key_limit_.take(id, system_clock_ms()); };
    api.log = [&log = options_.log](const AccessRecord& record) { log_access(log, record); };
    handler_ = std::make_unique<ApiHandler>(std::move(api));
  }

  const ServiceOptions options_;
  RateLimiter key_limit_;
  RateLimiter publishable_limit_;
  std::optional<NewKey> first_key_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<KeyRing> keys_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<ApiHandler> handler_;
  std::unique_ptr<HttpServer> server_;
};

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
