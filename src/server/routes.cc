#include "src/server/routes.h"

#include <array>

#include "src/server/handlers.h"
#include "src/server/http.h"

namespace hindsight {
namespace {

constexpr RoleSet kAdminOnly = {};
constexpr RoleSet kReaders = RoleSet{}.with(Role::kRead);
constexpr RoleSet kItemWriters = RoleSet{}.with(Role::kItems);
constexpr RoleSet kItemReaders = kItemWriters.with(Role::kRead);
constexpr RoleSet kRankAskers = RoleSet{}.with(Role::kRank);
constexpr RoleSet kClickers = RoleSet{}.with(Role::kClick);

constexpr Route open_to_all(std::string_view pattern, void (*handler)(ApiCall&)) {
  return {"GET", pattern, Access::kPublic, {}, false, kIdleBodyLimit, handler};
}

constexpr Route global(std::string_view pattern, void (*handler)(ApiCall&)) {
  return {"GET", pattern, Access::kKey, kReaders, false, kIdleBodyLimit, handler};
}

constexpr Route scoped(std::string_view method, std::string_view pattern, RoleSet roles,
                       void (*handler)(ApiCall&), std::size_t body_limit = kIdleBodyLimit) {
  return {method, pattern, Access::kKey, roles, true, body_limit, handler};
}

// clang-format off
constexpr std::array kRoutes = {
    open_to_all("/", handle_front_page),
    open_to_all("/assets/{id}", handle_console_file),
    open_to_all("/healthz", handle_health),
    open_to_all("/readyz", handle_ready),
    open_to_all("/openapi.yaml", handle_openapi),
    global("/metrics", handle_metrics),
    global("/v1/rankers", handle_rankers),
    global("/v1/collections", handle_list_collections),
    scoped("PUT", "/v1/collections/{c}", kAdminOnly, handle_put_collection, kBodyLimit),
    scoped("GET", "/v1/collections/{c}", kReaders, handle_get_collection),
    scoped("DELETE", "/v1/collections/{c}", kAdminOnly, handle_delete_collection),
    scoped("POST", "/v1/collections/{c}/items", kItemWriters, handle_add_items, kBodyLimit),
    scoped("GET", "/v1/collections/{c}/items", kItemReaders, handle_list_items),
    scoped("GET", "/v1/collections/{c}/items/{id}", kItemReaders, handle_get_item),
    scoped("GET", "/v1/collections/{c}/items/{id}/explain", kItemReaders, handle_explain_item),
    scoped("DELETE", "/v1/collections/{c}/items/{id}", kItemWriters, handle_delete_item),
    scoped("POST", "/v1/collections/{c}/rank", kRankAskers, handle_rank, kRankBodyLimit),
    Route{"POST", "/v1/collections/{c}/clicks", Access::kPublishable, kClickers, true, kBodyLimit,
          handle_clicks},
    scoped("GET", "/v1/collections/{c}/stats", kReaders, handle_stats),
    scoped("GET", "/v1/collections/{c}/history", kReaders, handle_history),
    scoped("GET", "/v1/collections/{c}/stream", kReaders, handle_stream),
    scoped("GET", "/v1/collections/{c}/decisions", kReaders, handle_list_decisions),
    scoped("GET", "/v1/collections/{c}/decisions/{id}", kReaders, handle_get_decision),
    scoped("POST", "/v1/collections/{c}/evaluate", kAdminOnly, handle_start_evaluation, kBodyLimit),
    scoped("GET", "/v1/collections/{c}/evaluate", kReaders, handle_get_evaluation),
    scoped("DELETE", "/v1/collections/{c}/evaluate", kAdminOnly, handle_cancel_evaluation),
    scoped("DELETE", "/v1/collections/{c}/users/{u}", kAdminOnly, handle_erase_user),
};
// clang-format on

/// Takes the next segment off a path that begins with '/'.
std::string_view take_segment(std::string_view& path) {
  const std::size_t end = path.find('/', 1);
  const std::string_view segment = path.substr(1, end == std::string_view::npos ? end : end - 1);
  path = end == std::string_view::npos ? std::string_view() : path.substr(end);
  return segment;
}

struct Captures {
  std::string_view collection;
  std::string_view id;
};

bool matches(std::string_view pattern, std::string_view path, Captures& captures) {
  while (!pattern.empty() && !path.empty()) {
    if (path.front() != '/') {
      return false;
    }
    const std::string_view wanted = take_segment(pattern);
    const std::string_view segment = take_segment(path);
    if (wanted.starts_with('{')) {
      if (segment.empty()) {
        return false;
      }
      (wanted == "{c}" ? captures.collection : captures.id) = segment;
    } else if (wanted != segment) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

}  // namespace

std::span<const Route> route_table() { return kRoutes; }

RouteMatch match_route(std::string_view method, std::string_view path) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  RouteMatch match;
  for (const Route& route : kRoutes) {
    Captures captures;
    // Few rows have the method; the others are only looked at when none of these fits.
    if (route.method != wanted || !matches(route.pattern, path, captures)) {
      continue;
    }
    match.route = &route;
    match.known_path = true;
    std::optional<std::string> collection = percent_decode(captures.collection);
    std::optional<std::string> id = percent_decode(captures.id);
    match.broken_escape = !collection || !id;
    if (!match.broken_escape) {
      match.collection = *std::move(collection);
      match.id = *std::move(id);
    }
    return match;
  }
  match.known_path = !allowed_methods(path).empty();
  return match;
}

std::string allowed_methods(std::string_view path) {
  std::string methods;
  for (const Route& route : kRoutes) {
    Captures captures;
    if (matches(route.pattern, path, captures)) {
      methods += methods.empty() ? "" : ", ";
      methods += route.method == "GET" ? "GET, HEAD" : route.method;
    }
  }
  return methods;
}

std::size_t route_index(const Route& route) {
  return static_cast<std::size_t>(&route - kRoutes.data());
}

}  // namespace hindsight
