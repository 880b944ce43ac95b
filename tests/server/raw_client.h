// RawClient: a socket on loopback that sends bytes as they are, well-formed or not.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace hindsight {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&place), sizeof(place)) == 0;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }

  /// RETURNS: false when the other side has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  void finish_sending() { ::shutdown(fd_, SHUT_WR); }

  /// Reads until `text` came or the other side closed. RETURNS: all that came since the last call
  std::string read_until(std::string_view text) {
    std::string all = std::exchange(rest_, {});
    std::size_t found = all.find(text);
    while (found == std::string::npos && fill(all)) {
      found = all.find(text);
    }
    if (found != std::string::npos) {
      rest_ = all.substr(found + text.size());
      all.resize(found + text.size());
    }
    return all;
  }

  /// One answer with a Content-Length: header and body.
  std::string read_answer() {
    const std::string head = read_until("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) {
      return head;
    }
    const std::size_t size = std::strtoull(head.c_str() + at + 16, nullptr, 10);
    std::string body = std::exchange(rest_, {});
    while (body.size() < size && fill(body)) {
    }
    if (body.size() > size) {
      rest_ = body.substr(size);
      body.resize(size);
    }
    return head + body;
  }

  /// All until the other side closes. RETURNS: what came
  std::string read_all() {
    std::string all = std::exchange(rest_, {});
    while (fill(all)) {
    }
    return all;
  }

  /// RETURNS: whether bytes or the end of the stream arrive within the time.
  bool readable(int timeout_ms) const {
    pollfd wanted = {fd_, POLLIN, 0};
    return !rest_.empty() || ::poll(&wanted, 1, timeout_ms) > 0;
  }

  void close() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }

 private:
  bool fill(std::string& into) const {
    char bytes[4096];
    const ssize_t got = ::recv(fd_, bytes, sizeof(bytes), 0);
    if (got <= 0) {
      return false;
    }
    into.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  int fd_;
  bool connected_ = false;
  std::string rest_;
};

}  // namespace hindsight
