# Run by the build: writes SOURCE, which defines the console's files (FOLDER/index.html and FOLDER/assets) as
# src/server/assets.h declares them.
cmake_minimum_required(VERSION 3.25)

set(type_js "text/javascript; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_svg "image/svg+xml")

# bytes_of(out file): the file's bytes as C++ writes them.
function(bytes_of out file)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  set(${out} "${bytes}" PARENT_SCOPE)
endfunction()

bytes_of(page ${FOLDER}/index.html)
set(arrays "constexpr unsigned char kPage[] = {\n${page}};\n")
set(rows "")
file(GLOB files RELATIVE ${FOLDER}/assets ${FOLDER}/assets/*)
list(SORT files)
list(LENGTH files count)
set(number 0)
foreach(name ${files})
  string(REGEX MATCH "[a-z]+$" suffix ${name})
  if(NOT DEFINED type_${suffix})
    message(FATAL_ERROR "What is the content type of ${name}?")
  endif()
  bytes_of(bytes ${FOLDER}/assets/${name})
  string(APPEND arrays "constexpr unsigned char kFile${number}[] = {\n${bytes}};\n")
  string(APPEND rows "    ConsoleFile{\"${name}\", \"${type_${suffix}}\", text(kFile${number})},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE ${SOURCE} "// Written by cmake/WriteConsole.cmake.
#include <array>
#include <cstddef>

#include \"src/server/assets.h\"

namespace hindsight {
namespace {

${arrays}
template <std::size_t N>
std::string_view text(const unsigned char (&bytes)[N]) {
  return {reinterpret_cast<const char*>(bytes), N};
}

const std::array<ConsoleFile, ${count}>& files() {
  static const std::array<ConsoleFile, ${count}> all = {
${rows}  };
  return all;
}

}  // namespace

std::string_view console_page() { return text(kPage); }
std::span<const ConsoleFile> console_files() { return files(); }

}  // namespace hindsight
")
