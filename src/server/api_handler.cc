#include "src/server/api_handler.h"

#include <algorithm>
#include <utility>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/server/access.h"
#include "src/server/audit.h"
#include "src/server/fair_share.h"
#include "src/server/handlers.h"
#include "src/server/http_server.h"
#include "src/server/json_input.h"
#include "src/server/json_output.h"
#include "src/server/lanes.h"
#include "src/server/metrics.h"
#include "src/server/rate_limit.h"
#include "src/server/routes.h"

namespace hindsight {
namespace {

// When to ask again whether the log has caught up.
constexpr std::int64_t kTryAgainMs = 1000;
constexpr std::int64_t kMsPerSecond = 1000;

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

Error too_many_requests() { return {ErrorCode::kRateLimited, std::string(kTooFast), {}}; }

Error too_busy() { return {ErrorCode::kOverloaded, std::string(kBusy), {}}; }

/// What may change what others see: these calls are audited.
bool is_administrative(const Route& route) {
  const bool changes = route.method != "GET";
  return changes && route.access == Access::kKey &&
         (route.roles.bits == 0 || route.pattern.ends_with("/evaluate"));
}

/// What the header alone has shown.
struct Findings final : HttpFindings {
  RouteMatch match;
  std::shared_ptr<const Principal> principal;
  std::optional<Refusal> limited;  // by what
  std::int64_t wait_ms = 0;
  bool too_many = false;  // by a rate
  bool no_time = false;   // for who is ahead of one
  bool ahead = false;     // of some rate, if within its burst
  Result<void> allowed = {};
};

/// One lane for each collection, and one for everything else that needs a key.
std::uint64_t lane_of(std::string_view collection) {
  return Lanes::in_line(std::hash<std::string_view>()(collection));
}

/// Whose share of the memory a request takes: a key's, or, where many share one or there is none,
/// that of the address.
std::uint64_t payer_of(const Principal* principal, const HttpRequest& head) {
  const bool by_key = principal != nullptr && !principal->publishable;
  return std::hash<std::string>()(by_key ? principal->id : address_bucket(head.peer));
}

/// How much a call puts on the way to the log: about its number of clicks or items.
std::int64_t weight_of(const HttpRequest& request) {
  constexpr std::size_t kBytesPerClick = 64;
  return 1 + static_cast<std::int64_t>(request.body.size() / kBytesPerClick);
}

/// Whether the call is answered by the log, not from memory.
bool waits_for_log(const Route& route) {
  return route.scoped && route.method != "GET" && !route.pattern.ends_with("/rank");
}

}  // namespace

class ApiHandler::Impl {
 public:
  explicit Impl(ApiOptions options)
      : options_(std::move(options)),
        metrics_(options_.version),
        context_{options_.engine, options_.keys, metrics_, options_.version},
        waiting_(options_.max_waiting) {
    metrics_.watch({options_.counters, options_.audit, &waiting_, options_.tls});
  }

  HttpAdmission admit(const HttpRequest& head, const LaneCheck& has_time) {
    RouteMatch match = match_route(head.method, head.path);
    const Route* route = match.route;
    HttpAdmission admission;
    admission.body_limit = route == nullptr ? kIdleBodyLimit : route->body_limit;
    const bool takes_turns = route != nullptr && route->access != Access::kPublic;
    admission.patient = route != nullptr && waits_for_log(*route);
    const std::uint64_t lane = takes_turns ? lane_of(match.collection) : 0;
    const std::uint64_t last = Lanes::last_in_line(lane);
    // A page reads the refusal only with the fields that a whole answer has.
    if (takes_turns && head.origin.empty() && !has_time(lane, admission.patient)) {
      admission.turned_away = TurnedAway::kNoTime;
      note_turned_away(head, *route, ErrorCode::kOverloaded, Refusal::kWaiting, nullptr);
      return admission;
    }
    auto findings =
        look_at(head, std::move(match), !takes_turns || has_time(last, admission.patient));
    if (planted(Fault::kIgnoreBodyLimit)) {
      admission.body_limit = std::size_t{1} << 40;
    }
    admission.payer = payer_of(findings->principal.get(), head);
    if (takes_turns) {
      admission.refused = findings->principal == nullptr || !findings->allowed.ok();
      // Who came faster than a rate is served after all others.
      admission.lane = findings->ahead ? last : lane;
      if (findings->no_time && head.origin.empty()) {
        admission.turned_away = TurnedAway::kNoTime;
        note_turned_away(head, *route, ErrorCode::kOverloaded, Refusal::kWaiting,
                         findings->principal.get());
      } else if (findings->too_many && findings->wait_ms <= kMsPerSecond && head.origin.empty() &&
                 !is_administrative(*route)) {
        admission.turned_away = TurnedAway::kTooMany;
        note_turned_away(head, *route, ErrorCode::kRateLimited, *findings->limited,
                         findings->principal.get());
      }
    }
    admission.findings = std::move(findings);
    return admission;
  }

  void handle(const HttpRequest& request, Respond respond) {
    const auto reply = std::make_shared<Reply>(
        Reply::Setup{metrics_, options_.log, options_.clock, options_.audit}, request,
        std::move(respond));
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

  /// Whoever is turned away unseen is counted like everybody else.
  void note_turned_away(const HttpRequest& head, const Route& route, ErrorCode code, Refusal reason,
                        const Principal* principal) {
    const ErrorInfo& error = error_info(code);
    metrics_.count_refusal(reason);
    metrics_.count(&route, error.http_status, 0.0);
    if (options_.log) {
      options_.log({.method = head.method,
                    .route = route.pattern,
                    .status = error.http_status,
                    .error = error.name,
                    .seconds = 0.0,
                    .key = principal == nullptr ? std::string_view() : principal->id,
                    .peer = head.peer});
    }
  }

  /// Everything that is known without the body. `last_has_time`: whoever is ahead of a rate can be
  /// served now; else that costs nobody a token.
  std::shared_ptr<Findings> look_at(const HttpRequest& head, RouteMatch match,
                                    bool last_has_time) const {
    const auto limited = [last_has_time](const RateCheck& limit, std::string_view who,
                                         Refusal reason, Findings& so_far) {
      return is_limited(limit, who, reason, last_has_time, so_far);
    };
    auto findings = std::make_shared<Findings>();
    findings->match = std::move(match);
    const Route* route = findings->match.route;
    if (route == nullptr || route->access == Access::kPublic) {
      return findings;
    }
    if (limited(options_.address_limit, head.peer, Refusal::kAddressRate, *findings)) {
      return findings;
    }
    const std::optional<std::string_view> key = bearer_key(head.authorization);
    const std::shared_ptr<const Principal> principal = key ? options_.keys.find(*key) : nullptr;
    findings->principal = principal;
    if (principal == nullptr) {
      return findings;
    }
    const bool over =
        principal->publishable
            ? limited(options_.publishable_limit, head.peer, Refusal::kPublishableRate, *findings)
            : limited(options_.key_limit, principal->id, Refusal::kKeyRate, *findings);
    if (over) {
      return findings;
    }
    const std::string& collection = findings->match.collection;
    findings->allowed = authorize(*principal, *route, collection, head.origin);
    // A name that no collection has costs no more than that: not a body, not a rate, not a lane.
    if (findings->allowed.ok() && route->scoped && route->method != "PUT" &&
        !findings->match.broken_escape && !options_.engine.has_collection(collection)) {
      findings->allowed = no_such_collection();
    }
    // Only who may call a collection can use up its rate.
    if (findings->allowed.ok() && route->scoped) {
      limited(options_.collection_limit, collection, Refusal::kCollectionRate, *findings);
    }
    if (findings->allowed.ok() && waits_for_log(*route) &&
        !waiting_.has_room(lane_of(collection))) {
      findings->limited = Refusal::kClicks;
      findings->wait_ms = kTryAgainMs;
      findings->allowed = too_busy();
    }
    return findings;
  }

  static bool is_limited(const RateCheck& limit, std::string_view who, Refusal reason,
                         bool last_has_time, Findings& findings) {
    const RateVerdict verdict = limit ? limit(who, !last_has_time) : RateVerdict();
    findings.wait_ms = verdict.wait_ms;
    findings.ahead = findings.ahead || verdict.ahead;
    if (findings.wait_ms > 0) {
      findings.too_many = true;
      findings.limited = reason;
      findings.allowed = too_many_requests();
    } else if (verdict.ahead && !last_has_time) {
      findings.no_time = true;
      findings.wait_ms = kTryAgainMs;
      findings.limited = Refusal::kWaiting;
      findings.allowed = too_busy();
    }
    return findings.wait_ms > 0;
  }

  void dispatch(const HttpRequest& request, const ReplyPtr& reply) {
    if (request.method == "OPTIONS") {
      preflight(request, reply);
      return;
    }
    const auto findings = request.findings != nullptr
                              ? std::static_pointer_cast<Findings>(request.findings)
                              : look_at(request, match_route(request.method, request.path), true);
    RouteMatch& match = findings->match;
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
    ApiCall call = {context_,
                    request,
                    *match.route,
                    std::move(match.collection),
                    std::move(match.id),
                    findings->principal,
                    reply};
    if (match.route->access != Access::kPublic && !may_pass(*findings, call)) {
      return;
    }
    if (const Result<void> checked = check(match, call); !checked.ok()) {
      reply->fail(checked.error());
      return;
    }
    if (waits_for_log(call.route) && !join_waiting(call)) {
      return;
    }
    match.route->handler(call);
  }

  /// Answers those who may not go on now. RETURNS: whether they may.
  bool may_pass(const Findings& findings, const ApiCall& call) const {
    if (call.principal != nullptr) {
      call.reply->set_principal(call.principal);
      if (options_.audit != nullptr && is_administrative(call.route)) {
        call.reply->set_audited(call.collection);
      }
    }
    if (findings.limited) {
      call.reply->refuse(*findings.limited, findings.allowed.error(), findings.wait_ms);
    } else if (call.principal == nullptr) {
      call.reply->fail(
          {ErrorCode::kUnauthorized, "send a key that is in force: Authorization: Bearer KEY", {}});
    } else if (!findings.allowed.ok()) {
      call.reply->fail(findings.allowed.error());
    } else if (call.request.overload != Overload::kNone) {
      const bool bodies = call.request.overload == Overload::kBodies;
      call.reply->refuse(bodies ? Refusal::kBodies : Refusal::kWaiting, too_busy(),
                         call.request.wait_ms);
    } else {
      return true;
    }
    return false;
  }

  /// Takes a place among those who wait for the log, until the answer. RETURNS: whether there was
  /// one; else the call is answered.
  bool join_waiting(const ApiCall& call) {
    const std::uint64_t lane = lane_of(call.collection);
    const std::int64_t weight = weight_of(call.request);
    if (!waiting_.take(lane, weight)) {
      call.reply->refuse(Refusal::kClicks, too_busy(), kTryAgainMs);
      return false;
    }
    call.reply->hold(std::shared_ptr<void>(
        nullptr, [this, lane, weight](void*) { waiting_.give_back(lane, weight); }));
    return true;
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

  static Result<void> check(const RouteMatch& match, const ApiCall& call) {
    const Route& route = *match.route;
    if (match.broken_escape) {
      return Error{ErrorCode::kInvalidArgument, "the percent-encoding is broken", "path"};
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
    const std::string_view encoding = call.request.content_encoding;
    if (has_body(route) && !encoding.empty() && encoding != "identity") {
      return Error{ErrorCode::kMediaType, "send the body as it is, neither compressed nor encoded",
                   "Content-Encoding"};
    }
    return {};
  }

  ApiOptions options_;
  ApiMetrics metrics_;
  ApiContext context_;
  FairShare waiting_;
};

ApiHandler::ApiHandler(ApiOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
ApiHandler::~ApiHandler() = default;

HttpAdmission ApiHandler::admit(const HttpRequest& head, const LaneCheck& has_time) {
  return impl_->admit(head, has_time);
}

void ApiHandler::handle(const HttpRequest& request, Respond respond) {
  impl_->handle(request, std::move(respond));
}

}  // namespace hindsight
