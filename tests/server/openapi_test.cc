// Holds docs/openapi.yaml, as the program carries it, against the route table and the error table.

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "hindsight/result.h"
#include "src/server/assets.h"
#include "src/server/routes.h"
#include "tests/server/api_fixture.h"

namespace hindsight {
namespace {

/// How a line of the document is indented, and its word before the colon.
struct Line {
  std::size_t indent = 0;
  std::string word;
};

Line read_line(const std::string& text) {
  const std::size_t indent = text.find_first_not_of(' ');
  if (indent == std::string::npos || text[indent] == '#') {
    return {};
  }
  return {indent, text.substr(indent, text.rfind(':') - indent)};
}

std::string upper(std::string word) {
  for (char& c : word) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return word;
}

using Calls = std::set<std::pair<std::string, std::string>>;

/// (verb, path) of every operation: the document keeps paths at two spaces, verbs at four.
Calls documented_calls() {
  static const std::set<std::string> verbs = {"get",   "put",  "post",   "delete",
                                              "patch", "head", "options"};
  Calls calls;
  std::istringstream in{std::string(openapi_text())};
  std::string text;
  std::string path;
  bool in_paths = false;
  while (std::getline(in, text)) {
    const Line line = read_line(text);
    if (line.indent == 0 && !line.word.empty()) {
      in_paths = line.word == "paths";
    } else if (in_paths && line.indent == 2) {
      path = line.word;
    } else if (in_paths && line.indent == 4 && verbs.count(line.word) != 0) {
      calls.emplace(upper(line.word), path);
    }
  }
  return calls;
}

TEST(OpenApi, DescribesEveryRouteAndNoOther) {
  Calls routes;
  for (const Route& route : route_table()) {
    routes.emplace(route.method, route.pattern);
  }
  const Calls documented = documented_calls();
  for (const auto& [method, pattern] : routes) {
    EXPECT_EQ(documented.count({method, pattern}), 1U) << "undocumented: " << method << pattern;
  }
  for (const auto& [method, pattern] : documented) {
    EXPECT_EQ(routes.count({method, pattern}), 1U) << "not served: " << method << pattern;
  }
}

/// The text of one operation: from its verb to the next line that is not deeper.
std::string operation_text(const Route& route) {
  const std::string document(openapi_text());
  const std::size_t path = document.find("\n  " + std::string(route.pattern) + ":\n");
  std::string verb(route.method);
  for (char& c : verb) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const std::size_t begin = document.find("\n    " + verb + ":\n", path);
  std::size_t end = begin + 1;
  do {
    end = document.find('\n', end);
    ++end;
  } while (end < document.size() && document.compare(end, 6, "      ") == 0);
  return document.substr(begin, end - begin);
}

TEST(OpenApi, SaysWhoMayCallWhat) {
  for (const Route& route : route_table()) {
    const std::string text = operation_text(route);
    SCOPED_TRACE(text.substr(0, 200));
    const bool open = text.find("security: []") != std::string::npos;
    EXPECT_EQ(open, route.access == Access::kPublic);
    if (open) {
      continue;
    }
    for (const char* status : {"'401'", "'403'", "'413'", "'429'", "'500'", "'503'"}) {
      EXPECT_NE(text.find(status), std::string::npos) << status;
    }
    EXPECT_EQ(text.find("'404'") != std::string::npos, route.scoped);
    EXPECT_EQ(text.find("'415'") != std::string::npos,
              route.method == "POST" || route.method == "PUT");
    const std::string summary = text.substr(text.find("summary:"));
    const std::string roles = summary.substr(0, summary.find('\n'));
    for (const Role role : {Role::kItems, Role::kRank, Role::kClick, Role::kRead}) {
      const std::string name(role_name(role));
      const bool named = roles.find("role " + name) != std::string::npos ||
                         roles.find("roles " + name) != std::string::npos ||
                         roles.find(", " + name + ")") != std::string::npos;
      EXPECT_EQ(named, route.roles.has(role)) << name;
    }
  }
}

TEST(OpenApi, ListsEveryErrorCode) {
  const std::string document(openapi_text());
  const std::size_t begin = document.find("    ErrorCode:");
  const std::string codes = document.substr(begin, document.find("    Error:\n") - begin);
  // Codes are numbered from 0; the last one is the fault of the program.
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const std::string name(error_info(static_cast<ErrorCode>(i)).name);
    EXPECT_TRUE(codes.find(name + ",") != std::string::npos ||
                codes.find(name + "]") != std::string::npos)
        << name;
  }
}

class OpenApiServed : public ApiTest {};

TEST_F(OpenApiServed, IsServedWithoutAKey) {
  const Answer answer = ask("GET", "/openapi.yaml", {.key = ""});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, "application/yaml");
  EXPECT_EQ(answer.body.substr(0, 14), "openapi: 3.0.3");
}

}  // namespace
}  // namespace hindsight
