#include "src/server/api_handler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/core/check.h"
#include "src/server/access.h"
#include "src/server/handlers.h"
#include "src/server/json_input.h"
#include "src/server/json_output.h"
#include "src/server/metrics.h"
#include "src/server/routes.h"

namespace hindsight {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// "application/json", perhaps with parameters; or nothing at all.
bool is_json(std::string_view content_type) {
  constexpr std::string_view kJson = "application/json";
  if (content_type.empty()) {
    return true;
  }
  const bool begins = content_type.size() >= kJson.size() &&
                      std::equal(kJson.begin(), kJson.end(), content_type.begin(),
                                 [](char wanted, char c) { return wanted == lower(c); });
  return begins &&
         (content_type.size() == kJson.size() ||
          std::string_view("; \t").find(content_type[kJson.size()]) != std::string_view::npos);
}

bool has_body(const Route& route) { return route.method == "POST" || route.method == "PUT"; }

HttpResponse too_many_requests(std::int64_t wait_ms) {
  const Error error = {ErrorCode::kRateLimited, "too many requests; wait as Retry-After says", {}};
  HttpResponse response = {.status = error_info(error.code).http_status, .body = error_json(error)};
  response.headers.emplace_back("Retry-After", std::to_string((wait_ms + 999) / 1000));
  return response;
}

}  // namespace

std::int64_t steady_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class ApiHandler::Impl {
 public:
  explicit Impl(ApiOptions options)
      : options_(std::move(options)),
        metrics_(options_.version),
        context_{options_.engine, options_.keys, metrics_, options_.version} {}

  bool knows_key(const HttpRequest& head) const {
    const std::optional<std::string_view> key = bearer_key(head.authorization);
    return key && options_.keys.find(*key) != nullptr;
  }

  void handle(const HttpRequest& request, Respond respond) {
    const auto reply = std::make_shared<Reply>(Reply::Setup{metrics_, options_.log, options_.clock},
                                               request, std::move(respond));
    reply->guard([&] { dispatch(request, reply); });
  }

 private:
  using ReplyPtr = std::shared_ptr<Reply>;

  /// Whether a page of this origin may read the answers of a route.
  bool allows_origin(std::string_view origin, bool publishable) const {
    if (origin.empty()) {
      return false;
    }
    const std::vector<std::string>& all = options_.cors_origins;
    return std::find(all.begin(), all.end(), origin) != all.end() ||
           (publishable && options_.keys.knows_origin(origin));
  }

  void dispatch(const HttpRequest& request, const ReplyPtr& reply) {
    if (request.method == "OPTIONS") {
      preflight(request, reply);
      return;
    }
    RouteMatch match = match_route(request.method, request.path);
    reply->set_route(match.route);
    if (!match.known_path) {
      reply->fail({ErrorCode::kNotFound, "there is no such path; /openapi.yaml has them all", {}});
      return;
    }
    if (match.route == nullptr) {
      not_allowed(request, reply);
      return;
    }
    if (allows_origin(request.origin, match.route->access == Access::kPublishable)) {
      reply->set_cors_origin(request.origin);
    }
    ApiCall call = {
        context_, request, *match.route, std::move(match.collection), std::move(match.id),
        nullptr,  reply};
    if (match.route->access != Access::kPublic && !admit(call)) {
      return;
    }
    if (const Result<void> checked = check(match, call); !checked.ok()) {
      reply->fail(checked.error());
      return;
    }
    match.route->handler(call);
  }

  /// A browser's question whether a page may send a request.
  void preflight(const HttpRequest& request, const ReplyPtr& reply) {
    const RouteMatch post = match_route("POST", request.path);
    const bool publishable = post.route != nullptr && post.route->access == Access::kPublishable;
    const std::string methods = allowed_methods(request.path);
    if (methods.empty() || !allows_origin(request.origin, publishable)) {
      not_allowed(request, reply);
      return;
    }
    reply->set_cors_origin(request.origin);
    HttpResponse response = {.status = 204};
    response.headers = {{"Access-Control-Allow-Methods", methods},
                        {"Access-Control-Allow-Headers", "Authorization, Content-Type"},
                        {"Access-Control-Max-Age", "600"}};
    reply->send(std::move(response));
  }

  static void not_allowed(const HttpRequest& request, const ReplyPtr& reply) {
    const std::string methods = allowed_methods(request.path);
    if (methods.empty()) {
      reply->fail({ErrorCode::kNotFound, "there is no such path; /openapi.yaml has them all", {}});
      return;
    }
    const Error error = {ErrorCode::kNotAllowed, "this path knows " + methods, {}};
    HttpResponse response = {.status = error_info(error.code).http_status,
                             .body = error_json(error)};
    response.headers.emplace_back("Allow", methods);
    reply->send(std::move(response));
  }

  /// Finds out who asks, and answers when they may not. RETURNS: whether they may.
  bool admit(ApiCall& call) const {
    const std::optional<std::string_view> key = bearer_key(call.request.authorization);
    call.principal = key ? options_.keys.find(*key) : nullptr;
    if (call.principal == nullptr) {
      call.reply->fail(
          {ErrorCode::kUnauthorized, "send a key that is in force: Authorization: Bearer KEY", {}});
      return false;
    }
    call.reply->set_principal(call.principal);
    const bool publishable = call.principal->publishable;
    const RateCheck& limit = publishable ? options_.publishable_limit : options_.key_limit;
    const std::int64_t wait_ms =
        limit ? limit(publishable ? call.request.peer : call.principal->id) : 0;
    if (wait_ms > 0) {
      call.reply->send(too_many_requests(wait_ms));
      return false;
    }
    const Result<void> allowed =
        authorize(*call.principal, call.route, call.collection, call.request.origin);
    if (!allowed.ok()) {
      call.reply->fail(allowed.error());
    }
    return allowed.ok();
  }

  static Result<void> check(const RouteMatch& match, const ApiCall& call) {
    const Route& route = *match.route;
    if (match.broken_escape) {
      return Error{ErrorCode::kInvalidArgument, "the percent-encoding is broken", "path"};
    }
    // A name that no collection can have; PUT says what is wrong with it.
    if (route.scoped && route.method != "PUT" && !is_collection_name(call.collection)) {
      return no_such_collection();
    }
    if (call.request.body_too_large) {
      return Error{ErrorCode::kTooLarge,
                   "the body is too large; at most " + std::to_string(route.body_limit) +
                       " bytes are read here",
                   {}};
    }
    if (has_body(route) && !is_json(call.request.content_type)) {
      return Error{ErrorCode::kMediaType, "send Content-Type: application/json", "Content-Type"};
    }
    return {};
  }

  ApiOptions options_;
  ApiMetrics metrics_;
  ApiContext context_;
};

ApiHandler::ApiHandler(ApiOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
ApiHandler::~ApiHandler() = default;

std::size_t ApiHandler::body_limit(const HttpRequest& head,
                                   std::optional<std::uint64_t> announced) const {
  const RouteMatch match = match_route(head.method, head.path);
  if (match.route == nullptr) {
    return kIdleBodyLimit;
  }
  // Large bodies are kept for those who have a key: connections are many, and memory is not.
  constexpr std::uint64_t kWithoutKey = std::uint64_t{64} << 10;
  const bool large = announced.value_or(match.route->body_limit) > kWithoutKey;
  if (large && match.route->access != Access::kPublic && !impl_->knows_key(head)) {
    return kIdleBodyLimit;
  }
  return match.route->body_limit;
}

void ApiHandler::handle(const HttpRequest& request, Respond respond) {
  impl_->handle(request, std::move(respond));
}

}  // namespace hindsight
