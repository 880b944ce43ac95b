// Every route × verb × key × collection, from the route table, held against a policy that is
// written down here once more, in other words.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/server/access.h"
#include "src/server/assets.h"
#include "src/server/routes.h"
#include "tests/server/api_fixture.h"

namespace hindsight {
namespace {

/// Who may call what, as a person would say it.
struct Policy {
  std::string method;
  std::string pattern;
  std::set<std::string> keys;  // beside "admin"; "anybody" needs none
  int success = 200;
  std::string body = {};
};

const std::vector<Policy>& policies() {
  static const std::vector<Policy> all = {
      {"GET", "/", {"anybody"}},
      {"GET", "/assets/{id}", {"anybody"}},
      {"GET", "/healthz", {"anybody"}},
      {"GET", "/readyz", {"anybody"}},
      {"GET", "/openapi.yaml", {"anybody"}},
      {"GET", "/metrics", {"read"}},
      {"GET", "/v1/rankers", {"read"}},
      {"GET", "/v1/collections", {"read"}},
      {"PUT", "/v1/collections/{c}", {}, 200, "{}"},
      {"GET", "/v1/collections/{c}", {"read"}},
      {"DELETE", "/v1/collections/{c}", {}, 204},
      {"POST", "/v1/collections/{c}/items", {"items"}, 200, R"({"items":[{"id":"b2"}]})"},
      {"GET", "/v1/collections/{c}/items", {"items", "read"}},
      {"GET", "/v1/collections/{c}/items/{id}", {"items", "read"}},
      {"GET", "/v1/collections/{c}/items/{id}/explain", {"items", "read"}},
      {"DELETE", "/v1/collections/{c}/items/{id}", {"items"}, 204},
      {"POST", "/v1/collections/{c}/rank", {"rank"}, 200, "{}"},
      {"POST",
       "/v1/collections/{c}/clicks",
       {"click", "publishable"},
       200,
       R"({"clicks":[{"decision":"d_1","item":"b1"}]})"},
      {"GET", "/v1/collections/{c}/stats", {"read"}},
      {"GET", "/v1/collections/{c}/history", {"read"}},
      {"GET", "/v1/collections/{c}/stream", {"read"}},
      {"GET", "/v1/collections/{c}/decisions", {"read"}},
      {"GET", "/v1/collections/{c}/decisions/{id}", {"read"}},
      {"POST", "/v1/collections/{c}/evaluate", {}, 202, R"({"ranker":"random"})"},
      {"GET", "/v1/collections/{c}/evaluate", {"read"}},
      {"DELETE", "/v1/collections/{c}/evaluate", {}, 200},
      {"DELETE", "/v1/collections/{c}/users/{u}", {}, 200},
  };
  return all;
}

const Policy* find_policy(std::string_view method, std::string_view pattern) {
  for (const Policy& policy : policies()) {
    if (policy.method == method && policy.pattern == pattern) {
      return &policy;
    }
  }
  return nullptr;
}

constexpr const char* kKinds[] = {"admin", "items", "rank", "click", "read", "publishable"};
constexpr const char* kVerbs[] = {"GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"};
constexpr const char* kOrigin = "https://shop.example";

struct Collection {
  std::string name;
  bool exists;
  bool own;  // of the keys that are scoped
};
const Collection kCollections[] = {{"own", true, true},
                                   {"own-missing", false, true},
                                   {"foreign", true, false},
                                   {"missing", false, false}};

std::string sample_id(std::string_view pattern) {
  if (pattern.starts_with("/assets/")) {
    return std::string(console_files().front().name);
  }
  return pattern.find("decisions") != std::string_view::npos ? "d_1" : "b1";
}

std::string path_of(std::string_view pattern, const std::string& collection) {
  std::string path(pattern);
  const std::pair<std::string, std::string> parts[] = {
      {"{c}", collection}, {"{u}", "u1"}, {"{id}", sample_id(pattern)}};
  for (const auto& [name, value] : parts) {
    if (const std::size_t at = path.find(name); at != std::string::npos) {
      path.replace(at, name.size(), value);
    }
  }
  return path;
}

class AccessMatrix : public ApiTest {
 protected:
  AccessMatrix() {
    for (const char* kind : kKinds) {
      Principal principal;
      principal.publishable = std::string(kind) == "publishable";
      principal.role = principal.publishable ? Role::kClick : *parse_role(kind);
      principal.origins = {kOrigin};
      keys.add(std::string("all-") + kind, principal);
      principal.collections = {"own", "own-missing"};
      keys.add(std::string("scoped-") + kind, principal);
    }
  }

  void reset_engine() {
    engine.held.clear();
    for (const Collection& collection : kCollections) {
      if (collection.exists) {
        engine.add(collection.name);
        engine.held[collection.name].items["b1"].id = "b1";
      }
    }
    engine.calls = 0;
  }

  Answer ask_as(const std::string& key, std::string_view verb, std::string_view pattern,
                const std::string& collection) {
    reset_engine();
    const Policy* policy = find_policy(verb, pattern);
    return ask(verb, path_of(pattern, collection),
               {.key = key,
                .body = policy == nullptr ? "" : policy->body,
                // Only publishable keys come from pages.
                .origin = key.find("publishable") == std::string::npos ? "" : kOrigin});
  }
};

/// What the policy says about one question. `kind` is empty without a key.
int expected_status(std::string_view verb, std::string_view pattern, const std::string& kind,
                    bool scoped_key, const Collection& collection) {
  const Policy* policy = find_policy(verb == "HEAD" ? "GET" : verb, pattern);
  if (policy == nullptr) {
    const bool preflight =
        verb == "OPTIONS" && kind == "publishable" && pattern == "/v1/collections/{c}/clicks";
    return preflight ? 204 : 405;
  }
  if (policy->keys.count("anybody") != 0) {
    return 200;
  }
  if (kind.empty()) {
    return 401;
  }
  if (kind != "admin" && policy->keys.count(kind) == 0) {
    return 403;
  }
  if (pattern.find("{c}") == std::string_view::npos) {
    return policy->success;
  }
  if (scoped_key && !collection.own) {
    return 404;
  }
  if (!collection.exists) {
    return verb == "PUT" ? 201 : 404;
  }
  return policy->success;
}

TEST(RoutePolicy, EveryRouteHasAnEntryAndEveryEntryARoute) {
  std::set<std::pair<std::string, std::string>> routes;
  for (const Route& route : route_table()) {
    EXPECT_TRUE(routes.emplace(route.method, route.pattern).second)
        << "twice: " << route.method << ' ' << route.pattern;
    EXPECT_NE(find_policy(route.method, route.pattern), nullptr)
        << "no policy for " << route.method << ' ' << route.pattern;
    EXPECT_NE(route.handler, nullptr);
    EXPECT_EQ(route.scoped, route.pattern.find("{c}") != std::string_view::npos);
  }
  for (const Policy& policy : policies()) {
    EXPECT_EQ(routes.count({policy.method, policy.pattern}), 1U)
        << "no route for " << policy.method << ' ' << policy.pattern;
  }
  EXPECT_EQ(routes.size(), policies().size());
}

TEST_F(AccessMatrix, EveryQuestionIsAnsweredAsThePolicySays) {
  std::size_t questions = 0;
  for (const Route& route : route_table()) {
    for (const std::string verb : kVerbs) {
      for (const Collection& collection : kCollections) {
        const auto expect = [&](const std::string& key, const std::string& kind, bool scoped) {
          SCOPED_TRACE(verb + ' ' + path_of(route.pattern, collection.name) + " with key '" + key +
                       "'");
          const int wanted = expected_status(verb, route.pattern, kind, scoped, collection);
          const Answer answer = ask_as(key, verb, route.pattern, collection.name);
          EXPECT_EQ(answer.status, wanted) << answer.body;
          if (wanted == 401 || wanted == 403 || wanted == 405) {
            EXPECT_EQ(engine.calls, 0) << "the engine was asked";
          }
          ++questions;
        };
        expect("", "", false);
        expect("unknown-key", "", false);
        for (const std::string kind : kKinds) {
          expect("all-" + kind, kind, false);
          expect("scoped-" + kind, kind, true);
        }
      }
    }
  }
  EXPECT_EQ(questions, route_table().size() * std::size(kVerbs) * std::size(kCollections) * 14);
}

TEST_F(AccessMatrix, ForeignAndMissingCollectionsCannotBeToldApart) {
  for (const Route& route : route_table()) {
    if (!route.scoped) {
      continue;
    }
    for (const std::string verb : kVerbs) {
      for (const std::string kind : kKinds) {
        SCOPED_TRACE(verb + ' ' + std::string(route.pattern) + " as scoped " + kind);
        const Answer foreign = ask_as("scoped-" + kind, verb, route.pattern, "foreign");
        EXPECT_EQ(engine.calls, 0) << "the engine was asked, which takes time";
        EXPECT_EQ(engine.held.count("foreign"), 1U);
        const Answer missing = ask_as("scoped-" + kind, verb, route.pattern, "missing");
        EXPECT_EQ(foreign.status, missing.status);
        EXPECT_EQ(foreign.body, missing.body);
        EXPECT_EQ(foreign.headers, missing.headers);
        EXPECT_EQ(foreign.content_type, missing.content_type);
      }
    }
  }
}

TEST_F(AccessMatrix, AnInvalidBodyDoesNotTellForeignFromMissing) {
  reset_engine();
  for (const std::string kind : {"admin", "items", "rank", "click"}) {
    for (const char* rest : {"/rank", "/clicks", "/items", "/evaluate", ""}) {
      const std::string verb = *rest == '\0' ? "PUT" : "POST";
      const auto answer = [&](const std::string& collection) {
        return ask(verb, "/v1/collections/" + collection + rest,
                   {.key = "scoped-" + kind, .body = "{"});
      };
      EXPECT_EQ(answer("foreign").body, answer("missing").body);
      EXPECT_EQ(answer("foreign").status, answer("missing").status);
      EXPECT_NE(answer("foreign").status, 400);
    }
  }
}

TEST_F(AccessMatrix, ListsShowOwnCollectionsOnly) {
  reset_engine();
  for (const std::string kind : {"read", "admin"}) {
    const Answer scoped = ask("GET", "/v1/collections", {.key = "scoped-" + kind});
    EXPECT_NE(scoped.body.find("\"own\""), std::string::npos);
    EXPECT_EQ(scoped.body.find("foreign"), std::string::npos);
    const Answer metrics = ask("GET", "/metrics", {.key = "scoped-" + kind});
    EXPECT_NE(metrics.body.find("collection=\"own\""), std::string::npos);
    EXPECT_EQ(metrics.body.find("foreign"), std::string::npos);
    EXPECT_NE(ask("GET", "/v1/collections", {.key = "all-" + kind}).body.find("foreign"),
              std::string::npos);
  }
}

TEST_F(AccessMatrix, AScopedAdminMakesAndDeletesItsOwnNamesOnly) {
  reset_engine();
  const auto put = [&](const std::string& name) {
    return ask("PUT", "/v1/collections/" + name, {.key = "scoped-admin", .body = "{}"}).status;
  };
  EXPECT_EQ(put("own-missing"), 201);
  EXPECT_EQ(put("missing"), 404);
  EXPECT_EQ(put("foreign"), 404);
  EXPECT_EQ(ask("DELETE", "/v1/collections/foreign", {.key = "scoped-admin"}).status, 404);
  EXPECT_EQ(engine.held.count("foreign"), 1U);
  EXPECT_EQ(engine.held.count("missing"), 0U);
}

TEST(BearerKey, TakesTheSchemeInAnyCase) {
  EXPECT_EQ(bearer_key("Bearer k"), "k");
  EXPECT_EQ(bearer_key("bearer a b"), "a b");
  for (const char* header : {"", "Bearer", "Bearer ", "Basic k", "Bearerk", "k"}) {
    EXPECT_FALSE(bearer_key(header).has_value()) << header;
  }
}

}  // namespace
}  // namespace hindsight
