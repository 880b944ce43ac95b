// A whole API over a FakeEngine and keys that are their own names, without a socket.
//
// Thread-safety: none.

#pragma once

#include <gtest/gtest.h>
#include <simdjson.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/server/api_handler.h"
#include "tests/server/fake_engine.h"

namespace hindsight {

class FakeKeys final : public KeyLookup {
 public:
  std::map<std::string, Principal, std::less<>> keys;

  void add(const std::string& key, Principal principal) {
    principal.id = "id-of-" + key;
    keys[key] = std::move(principal);
  }
  std::shared_ptr<const Principal> find(std::string_view key) const override {
    const auto found = keys.find(key);
    return found == keys.end() ? nullptr : std::make_shared<Principal>(found->second);
  }
  bool knows_origin(std::string_view origin) const override {
    for (const auto& [key, principal] : keys) {
      for (const std::string& known : principal.origins) {
        if (principal.publishable && known == origin) {
          return true;
        }
      }
    }
    return false;
  }
};

struct Ask {
  std::string key = "admin";
  std::string body = {};
  std::string query = {};
  std::string origin = {};
  std::string content_type = "application/json";
  std::string content_encoding = {};
  bool body_too_large = false;
};

/// A response that can be looked at.
struct Answer {
  int status = 0;
  std::string content_type;
  std::string body;
  std::multimap<std::string, std::string> headers;
  std::shared_ptr<HttpStream> stream;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
  /// The value at a JSON pointer ("/error/code"), as text; empty when it is not there.
  std::string at(std::string_view pointer) const {
    simdjson::dom::parser parser;
    simdjson::dom::element value;
    if (parser.parse(body).at_pointer(pointer).get(value) != simdjson::SUCCESS) {
      return "";
    }
    return value.is_string() ? std::string(value.get_string().value_unsafe())
                             : simdjson::minify(value);
  }
};

class ApiTest : public ::testing::Test {
 protected:
  ApiTest() {
    engine.add("books");
    for (const Role role : {Role::kAdmin, Role::kItems, Role::kRank, Role::kClick, Role::kRead}) {
      keys.add(std::string(role_name(role)), {.role = role});
    }
  }

  ApiOptions options() { return {.engine = engine, .keys = keys, .version = "1.2.3"}; }
  ApiHandler& handler() {
    if (handler_ == nullptr) {
      handler_ = std::make_unique<ApiHandler>(options());
    }
    return *handler_;
  }
  void use(ApiOptions options) { handler_ = std::make_unique<ApiHandler>(std::move(options)); }

  std::optional<Answer> ask_now(std::string_view method, std::string_view path, const Ask& ask) {
    const std::string authorization = ask.key.empty() ? "" : "Bearer " + ask.key;
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.query = ask.query;
    request.body = ask.body;
    request.authorization = authorization;
    request.content_type = ask.content_type;
    request.content_encoding = ask.content_encoding;
    request.origin = ask.origin;
    request.peer = "192.0.2.1";
    request.body_too_large = ask.body_too_large;
    auto got = std::make_shared<std::optional<Answer>>();
    handler().handle(request, [got](HttpResponse response) {
      EXPECT_FALSE(got->has_value()) << "answered twice";
      got->emplace();
      (*got)->status = response.status;
      (*got)->content_type = response.content_type;
      (*got)->body = std::move(response.body);
      (*got)->headers.insert(response.headers.begin(), response.headers.end());
      (*got)->stream = std::move(response.stream);
    });
    last_ = got;
    return *got;
  }
  Answer ask(std::string_view method, std::string_view path, const Ask& ask = {}) {
    std::optional<Answer> answer = ask_now(method, path, ask);
    EXPECT_TRUE(answer.has_value()) << "not answered: " << method << ' ' << path;
    return answer.value_or(Answer{});
  }
  /// What has been answered to the last question by now.
  std::optional<Answer> answered() const { return *last_; }

  FakeEngine engine;
  FakeKeys keys;

 private:
  std::unique_ptr<ApiHandler> handler_;
  std::shared_ptr<std::optional<Answer>> last_;
};

}  // namespace hindsight
