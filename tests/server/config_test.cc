#include "src/server/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hindsight {
namespace {

using ::testing::HasSubstr;

Error error_of(std::string_view text) {
  const auto config = parse_config(text);
  EXPECT_FALSE(config.ok()) << text;
  return config.ok() ? Error{} : config.error();
}

const Setting& setting(std::string_view name) {
  for (const Setting& row : settings()) {
    if (row.name == name) {
      return row;
    }
  }
  ADD_FAILURE() << "no setting " << name;
  return settings().front();
}

TEST(Config, AnEmptyFileGivesTheDefaults) {
  const auto config = parse_config("");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->address, "127.0.0.1");
  EXPECT_EQ(config->port, 8080);
  EXPECT_FALSE(config->allow_remote);
  EXPECT_TRUE(config->cors_origins.empty());
  EXPECT_TRUE(check_config(*config).ok());
}

TEST(Config, TheWrittenDefaultsAreTheDefaults) {
  // Where a text in the table disagrees with the struct, setting it changes something.
  ServerConfig config;
  for (const Setting& row : settings()) {
    const auto set = set_from_text(config, row, row.fallback);
    ASSERT_TRUE(set.ok()) << row.name << ": " << to_string(set.error());
  }
  const ServerConfig fresh;
  EXPECT_EQ(config.data, fresh.data);
  EXPECT_EQ(config.address, fresh.address);
  EXPECT_EQ(config.port, fresh.port);
  EXPECT_EQ(config.threads, fresh.threads);
  EXPECT_EQ(config.learner_threads, fresh.learner_threads);
  EXPECT_EQ(config.max_connections, fresh.max_connections);
  EXPECT_EQ(config.max_header_bytes, fresh.max_header_bytes);
  EXPECT_EQ(config.tls_cert, fresh.tls_cert);
  EXPECT_EQ(config.tls_key, fresh.tls_key);
  EXPECT_EQ(config.trusted_proxies, fresh.trusted_proxies);
  EXPECT_EQ(config.max_handshakes, fresh.max_handshakes);
  EXPECT_EQ(config.max_wait_ms, fresh.max_wait_ms);
  EXPECT_EQ(config.max_body_memory, fresh.max_body_memory);
  EXPECT_EQ(config.max_waiting, fresh.max_waiting);
  EXPECT_EQ(config.max_backlog, fresh.max_backlog);
  EXPECT_EQ(config.address_rate, fresh.address_rate);
  EXPECT_EQ(config.address_burst, fresh.address_burst);
  EXPECT_EQ(config.collection_rate, fresh.collection_rate);
  EXPECT_EQ(config.collection_burst, fresh.collection_burst);
  EXPECT_EQ(config.handshake_deadline_ms, fresh.handshake_deadline_ms);
  EXPECT_EQ(config.audit_bytes, fresh.audit_bytes);
  EXPECT_EQ(config.key_rate, fresh.key_rate);
  EXPECT_EQ(config.key_burst, fresh.key_burst);
  EXPECT_EQ(config.publishable_rate, fresh.publishable_rate);
  EXPECT_EQ(config.publishable_burst, fresh.publishable_burst);
  EXPECT_EQ(config.header_deadline_ms, fresh.header_deadline_ms);
  EXPECT_EQ(config.body_deadline_ms, fresh.body_deadline_ms);
  EXPECT_EQ(config.idle_deadline_ms, fresh.idle_deadline_ms);
  EXPECT_EQ(config.write_deadline_ms, fresh.write_deadline_ms);
  EXPECT_EQ(config.drain_deadline_ms, fresh.drain_deadline_ms);
  EXPECT_EQ(config.cors_origins, fresh.cors_origins);
  EXPECT_EQ(config.log_level, fresh.log_level);
  EXPECT_EQ(config.log_format, fresh.log_format);
  EXPECT_EQ(config.snapshot_events, fresh.snapshot_events);
  EXPECT_EQ(config.snapshot_seconds, fresh.snapshot_seconds);
  EXPECT_EQ(config.node, fresh.node);
}

TEST(Config, EveryKindOfValueIsRead) {
  const auto config = parse_config(
      "data = \"/srv/h\"\nlisten = \"[::1]:9000\"\nallow_remote = true\nthreads = 3\n"
      "key_rate = 2.5\npublishable_rate = 7\ncors_origins = [\"https://a.example\"]\n"
      "log_level = \"debug\"\nlog_format = \"json\"\nnode = 65535\n");
  ASSERT_TRUE(config.ok()) << to_string(config.error());
  EXPECT_EQ(config->data, "/srv/h");
  EXPECT_EQ(config->address, "::1");
  EXPECT_EQ(config->port, 9000);
  EXPECT_TRUE(config->allow_remote);
  EXPECT_EQ(config->threads, 3);
  EXPECT_EQ(config->key_rate, 2.5);
  EXPECT_EQ(config->publishable_rate, 7.0);
  EXPECT_EQ(config->cors_origins, std::vector<std::string>{"https://a.example"});
  EXPECT_EQ(config->log_level, LogLevel::kDebug);
  EXPECT_EQ(config->log_format, LogFormat::kJson);
  EXPECT_EQ(config->node, 65535);
}

TEST(Config, UnknownNamesComeWithASuggestion) {
  const Error error = error_of("max_conections = 3\n");
  EXPECT_EQ(error.field, "max_conections");
  EXPECT_THAT(error.message, HasSubstr("did you mean 'max_connections'?"));
  EXPECT_THAT(error_of("colour = \"red\"\n").message, ::testing::Not(HasSubstr("did you mean")));
}

TEST(Config, BrokenTextSaysWhere) {
  const Error error = error_of("threads = 1\nlisten = \n");
  EXPECT_EQ(error.code, ErrorCode::kParse);
  EXPECT_THAT(error.message, HasSubstr("line 2"));
}

TEST(Config, OtherCharactersThanAsciiStandInStringsAndCommentsOnly) {
  for (const char* text : {"# \u0133\n", "data = \"/srv/\u0133\"\n", "data = '/srv/\u0133'\n",
                           "data = \"\"\"/srv/\"\u0133\"\"\"\"\"  # \u0133\nthreads = 1\n",
                           "\xEF\xBB\xBFthreads = 1\n", "data = \"a\\\"\u0133\"\n"}) {
    const auto config = parse_config(text);
    EXPECT_TRUE(config.ok()) << text << to_string(config.error());
  }
  for (const char* text : {"\u0133", "threads = 1\n\u0133 = 2\n", "threads\u00a0= 1\n",
                           "data = \"a\"\u0133\n", "data = ''\u0133\n"}) {
    EXPECT_EQ(error_of(text).code, ErrorCode::kParse) << text;
  }
  EXPECT_THAT(error_of("threads = 1\n\u0133 = 2\n").message, HasSubstr("line 2"));
}

TEST(Config, HeadersWithoutANameAreRefused) {
  for (const char* text : {"[+0", "[[+", "[ ", "[=]\n", "= 3\n", "a.= 3\n"}) {
    EXPECT_EQ(error_of(text).code, ErrorCode::kParse) << text;
  }
}

TEST(Config, ValuesOutOfTheirRangeOrTypeAreNamed) {
  for (const char* text : {"threads = -1\n",
                           "threads = 1.5\n",
                           "threads = \"2\"\n",
                           "node = 65536\n",
                           "key_rate = -0.1\n",
                           "key_rate = nan\n",
                           "allow_remote = 1\n",
                           "listen = \"example:80\"\n",
                           "listen = \"127.0.0.1:65536\"\n",
                           "listen = \"127.0.0.1:\"\n",
                           "listen = \"[::1\"\n",
                           "listen = \"[::1]80\"\n",
                           "log_level = \"loud\"\n",
                           "log_format = \"xml\"\n",
                           "cors_origins = [\"*\"]\n",
                           "cors_origins = [\"https://a.example/x\"]\n",
                           "cors_origins = \"https://a.example\"\n",
                           "data = \"\"\n",
                           "header_deadline_ms = 0\n",
                           "[threads]\n"}) {
    const Error error = error_of(text);
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument) << text;
    EXPECT_NE(std::string(text).find(error.field), std::string::npos) << text;
    EXPECT_FALSE(error.field.empty()) << text;
  }
}

TEST(Config, AddressesHaveSeveralForms) {
  const struct {
    const char* text;
    const char* address;
    int port;
  } cases[] = {{"0.0.0.0:80", "0.0.0.0", 80},    {"localhost:1", "127.0.0.1", 1},
               {"127.0.0.2", "127.0.0.2", 8080}, {":9", "127.0.0.1", 9},
               {"[::]:443", "::", 443},          {"::1", "::1", 8080},
               {"[fe80::1]", "fe80::1", 8080},   {"127.0.0.1:0", "127.0.0.1", 0}};
  for (const auto& one : cases) {
    ServerConfig config;
    ASSERT_TRUE(set_from_text(config, setting("listen"), one.text).ok()) << one.text;
    EXPECT_EQ(config.address, one.address);
    EXPECT_EQ(config.port, one.port);
  }
}

TEST(Config, AnAddressThatOthersReachNeedsAFlag) {
  for (const char* address : {"0.0.0.0", "192.0.2.1", "::", "2001:db8::1"}) {
    ServerConfig config;
    config.address = address;
    const auto refused = check_config(config);
    ASSERT_FALSE(refused.ok()) << address;
    EXPECT_THAT(refused.error().message, HasSubstr("--allow-remote"));
    config.allow_remote = true;
    EXPECT_TRUE(check_config(config).ok());
  }
  for (const char* address : {"127.0.0.1", "127.8.9.1", "::1"}) {
    ServerConfig config;
    config.address = address;
    EXPECT_TRUE(check_config(config).ok()) << address;
  }
}

TEST(Config, TlsNeedsACertificateAndItsKeyAndThenNoFlag) {
  ServerConfig config;
  config.address = "192.0.2.1";
  config.tls_cert = "/etc/cert.pem";
  const auto half = check_config(config);
  ASSERT_FALSE(half.ok());
  EXPECT_EQ(half.error().field, "tls_key");
  config.tls_key = "/etc/key.pem";
  EXPECT_TRUE(check_config(config).ok());
  config.tls_cert.clear();
  EXPECT_EQ(check_config(config).error().field, "tls_cert");
}

TEST(Config, ProxiesMustBeAddressesOrNetworks) {
  const auto config = parse_config(R"(trusted_proxies = ["10.0.0.0/8", "::1"])");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->trusted_proxies, (std::vector<std::string>{"10.0.0.0/8", "::1"}));
  EXPECT_EQ(error_of(R"(trusted_proxies = ["proxy.example"])").field, "trusted_proxies");
}

TEST(Config, TheEnvironmentOverridesTheFile) {
  auto config = parse_config("threads = 3\nnode = 4\n");
  ASSERT_TRUE(config.ok());
  ASSERT_TRUE(apply_environment(*config, {{"HINDSIGHT_THREADS", "5"},
                                          {"HINDSIGHT_CORS_ORIGINS", "https://a.b,https://c.d"},
                                          {"PATH", "/bin"},
                                          {"HINDSIGHT_CONFIG", "file.toml"},
                                          {"HINDSIGHT_FULL", "1"},
                                          {"HINDSIGHT_KEY", "k"}})
                  .ok());
  EXPECT_EQ(config->threads, 5);
  EXPECT_EQ(config->node, 4);
  EXPECT_EQ(config->cors_origins.size(), 2u);
}

TEST(Config, WrongVariablesAndSlipsAreNamed) {
  ServerConfig config;
  const auto wrong = apply_environment(config, {{"HINDSIGHT_THREADS", "many"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().field, "HINDSIGHT_THREADS");
  const auto slip = apply_environment(config, {{"HINDSIGHT_THREDS", "2"}});
  ASSERT_FALSE(slip.ok());
  EXPECT_THAT(slip.error().message, HasSubstr("HINDSIGHT_THREADS"));
}

TEST(Config, NamesOfFlagsAndVariablesFollowTheSetting) {
  EXPECT_EQ(flag_name(setting("header_deadline_ms")), "--header-deadline-ms");
  EXPECT_EQ(variable_name(setting("header_deadline_ms")), "HINDSIGHT_HEADER_DEADLINE_MS");
}

}  // namespace
}  // namespace hindsight
