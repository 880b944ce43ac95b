// The least that an HTTP server on Boost.Beast does: reads a request, answers with as many bytes as
// the first argument says. What `hindsight serve` adds is measured against it.
//
//   echo_server BYTES      prints its port, serves until it is ended

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;

asio::awaitable<void> serve(Tcp::socket socket, std::string body) {
  boost::beast::flat_buffer buffer;
  buffer.reserve(std::size_t{64} << 10);
  socket.set_option(Tcp::no_delay(true));
  try {
    for (;;) {
      http::request<http::string_body> request;
      co_await http::async_read(socket, buffer, request, asio::use_awaitable);
      http::response<http::string_body> response(http::status::ok, request.version());
      response.set(http::field::content_type, "application/json");
      response.keep_alive(request.keep_alive());
      response.body() = body;
      response.prepare_payload();
      co_await http::async_write(socket, response, asio::use_awaitable);
    }
  } catch (const boost::system::system_error&) {
    // The client has gone.
  }
}

asio::awaitable<void> listen(Tcp::acceptor acceptor, std::string body) {
  for (;;) {
    Tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve(std::move(socket), body), asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t bytes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100;
  asio::io_context context(1);
  Tcp::acceptor acceptor(context, {asio::ip::make_address("127.0.0.1"), 0});
  std::printf("%d\n", static_cast<int>(acceptor.local_endpoint().port()));
  std::fflush(stdout);
  asio::co_spawn(context, listen(std::move(acceptor), std::string(bytes, 'x')), asio::detached);
  context.run();
  return 0;
}
