// What the HTTP server refuses by itself, before any handler has seen the request.
//
// Thread-safety: pure functions.

#pragma once

#include <boost/system/error_code.hpp>
#include <string>

#include "src/server/http.h"

namespace hindsight::net {

/// Why the parser would not go on.
HttpResponse refusal_of(const boost::system::error_code& problem);
HttpResponse bad_target();
HttpResponse bad_expectation();
HttpResponse too_slow();
HttpResponse too_large();
HttpResponse failed_inside();
/// What somebody hears who is turned away. REQUIRES: not kNo
HttpResponse answer_of(TurnedAway why);

/// The whole answer, as bytes, for a client that finds no place at all.
const std::string& no_place();

}  // namespace hindsight::net
