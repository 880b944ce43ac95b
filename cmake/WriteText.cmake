# Run by the build: writes SOURCE, which defines FUNCTION of HEADER as the bytes of FILE.
cmake_minimum_required(VERSION 3.25)
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${SOURCE} "// Written by cmake/WriteText.cmake.
#include \"${HEADER}\"

namespace hindsight {
namespace {

constexpr unsigned char kBytes[] = {
${bytes}};

}  // namespace

std::string_view ${FUNCTION}() { return {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)}; }

}  // namespace hindsight
")
