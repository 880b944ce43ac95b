#include "src/server/forwarded.h"

#include <gtest/gtest.h>

namespace hindsight {
namespace {

TrustedProxies trusted(const std::vector<std::string>& texts) {
  const auto proxies = TrustedProxies::parse(texts);
  EXPECT_TRUE(proxies.ok());
  return proxies.ok() ? *proxies : TrustedProxies();
}

TEST(TrustedProxies, NetworksAndAddressesAreMatchedByTheirBits) {
  const TrustedProxies proxies = trusted({"10.0.0.0/8", "192.0.2.7", "2001:db8::/33", "::1"});
  for (const char* inside :
       {"10.0.0.1", "10.255.255.255", "::ffff:10.1.2.3", "192.0.2.7", "2001:db8:7fff::1", "::1"}) {
    EXPECT_TRUE(proxies.contains(inside)) << inside;
  }
  for (const char* outside : {"11.0.0.1", "9.255.255.255", "192.0.2.6", "2001:db8:8000::1", "::2",
                              "", "10.0.0", "localhost"}) {
    EXPECT_FALSE(proxies.contains(outside)) << outside;
  }
  EXPECT_TRUE(trusted({"0.0.0.0/0"}).contains("203.0.113.9"));
  EXPECT_FALSE(trusted({"0.0.0.0/0"}).contains("2001:db8::1"));
}

TEST(TrustedProxies, WhatIsNoNetworkIsAnError) {
  for (const char* text : {"", "proxy", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8x",
                           "::/129", "10.0.0.0/8/8", "/8"}) {
    const auto proxies = TrustedProxies::parse({text});
    ASSERT_FALSE(proxies.ok()) << text;
    EXPECT_EQ(proxies.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(TrustedProxies, OnlyListedProxiesAreBelieved) {
  const TrustedProxies proxies = trusted({"10.0.0.0/8"});
  EXPECT_EQ(proxies.client_address("203.0.113.9", "198.51.100.1", ""), "203.0.113.9");
  EXPECT_EQ(proxies.client_address("10.0.0.1", "198.51.100.1", ""), "198.51.100.1");
  EXPECT_EQ(proxies.client_address("10.0.0.1", "", ""), "10.0.0.1");
  EXPECT_EQ(TrustedProxies().client_address("10.0.0.1", "198.51.100.1", ""), "10.0.0.1");
}

TEST(TrustedProxies, WhatTheClientWroteInFrontStaysUnread) {
  const TrustedProxies proxies = trusted({"10.0.0.0/8"});
  EXPECT_EQ(proxies.client_address("10.0.0.1", "6.6.6.6, 198.51.100.1", ""), "198.51.100.1");
  EXPECT_EQ(proxies.client_address("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.2", ""),
            "198.51.100.1");
  EXPECT_EQ(proxies.client_address("10.0.0.1", "10.0.0.3, 198.51.100.1 ,10.0.0.2", ""),
            "198.51.100.1");
  // All of them are proxies: the request stems from the first.
  EXPECT_EQ(proxies.client_address("10.0.0.1", "10.0.0.3,10.0.0.2", ""), "10.0.0.3");
}

TEST(TrustedProxies, WhatCannotBeReadEndsTheWalk) {
  const TrustedProxies proxies = trusted({"10.0.0.0/8"});
  for (const char* text : {"unknown", "198.51.100.1, nonsense", ",", "198.51.100.1,", "[::1",
                           "a:b:c", "198.51.100.1, _hidden"}) {
    EXPECT_EQ(proxies.client_address("10.0.0.1", text, ""), "10.0.0.1") << text;
  }
  EXPECT_EQ(proxies.client_address("10.0.0.1", "198.51.100.1, bad, 10.0.0.2", ""), "10.0.0.2");
}

TEST(TrustedProxies, PortsAndBracketsAreTakenOff) {
  const TrustedProxies proxies = trusted({"10.0.0.0/8"});
  EXPECT_EQ(proxies.client_address("10.0.0.1", "198.51.100.1:4711", ""), "198.51.100.1");
  EXPECT_EQ(proxies.client_address("10.0.0.1", "[2001:DB8::1]:4711", ""), "2001:db8::1");
  EXPECT_EQ(proxies.client_address("10.0.0.1", "2001:db8::1", ""), "2001:db8::1");
  EXPECT_EQ(proxies.client_address("10.0.0.1", "::ffff:198.51.100.1", ""), "198.51.100.1");
}

TEST(TrustedProxies, TheStandardFieldIsReadAndMustAgree) {
  const TrustedProxies proxies = trusted({"10.0.0.0/8"});
  EXPECT_EQ(proxies.client_address("10.0.0.1", "", "for=198.51.100.1;proto=https"), "198.51.100.1");
  EXPECT_EQ(
      proxies.client_address("10.0.0.1", "", "for=6.6.6.6, proto=http; For=\"[2001:db8::1]:80\""),
      "2001:db8::1");
  EXPECT_EQ(proxies.client_address("10.0.0.1", "", "proto=https"), "10.0.0.1");
  EXPECT_EQ(proxies.client_address("10.0.0.1", "198.51.100.1", "for=198.51.100.1"), "198.51.100.1");
  // A proxy sets one of them and passes the other on as the client wrote it.
  EXPECT_EQ(proxies.client_address("10.0.0.1", "198.51.100.1", "for=6.6.6.6"), "10.0.0.1");
}

TEST(TrustedProxies, EndlessListsAreCut) {
  const TrustedProxies proxies = trusted({"10.0.0.0/8"});
  std::string list;
  for (int i = 0; i < 1000; ++i) {
    list += "10.0.0.9,";
  }
  EXPECT_EQ(proxies.client_address("10.0.0.1", list + "10.0.0.8", ""), "10.0.0.9");
}

}  // namespace
}  // namespace hindsight
