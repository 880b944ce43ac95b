# Run by the build: joins STYLES and SCRIPTS (with the chart library's LICENCE) and writes
# FOLDER/report_assets.cc with their bytes and with their hashes as a Content-Security-Policy names them.
cmake_minimum_required(VERSION 3.25)

# joined(out files...): the files' texts, one after the other.
function(joined out)
  set(text "")
  foreach(file ${ARGN})
    file(READ ${file} part)
    string(APPEND text "${part}\n")
  endforeach()
  # A page would end at these, and a browser hashes a page after it has rewritten the line ends.
  string(TOLOWER "${text}" lower)
  foreach(forbidden "</script" "</style" "<!--" "\r")
    string(FIND "${lower}" "${forbidden}" place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "'${forbidden}' must not stand in a text that goes into a page: ${ARGN}")
    endif()
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# base64(out hex): 32 bytes, given as 64 hex digits.
function(base64 out hex)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(text "")
  foreach(start RANGE 0 60 6)
    string(SUBSTRING "${hex}0000" ${start} 6 three_bytes)
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${three_bytes} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${index} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)  # the last three bytes were two and a zero
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

# definition(out name file): C++ that defines the file's bytes and hash.
function(definition out name file)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(SHA256 ${file} hash)
  base64(hash "${hash}")
  set(${out} "
constexpr unsigned char k${name}Bytes[] = {
${bytes}};

" PARENT_SCOPE)
  set(${out}_hash "sha256-${hash}" PARENT_SCOPE)
endfunction()

joined(style ${STYLES})
file(WRITE ${FOLDER}/report.css "${style}")
file(READ ${LICENCE} licence)
joined(script ${SCRIPTS})
file(WRITE ${FOLDER}/report.js "/*! The chart library (uPlot) below:\n${licence}\n*/\n${script}")

definition(style Style ${FOLDER}/report.css)
definition(script Script ${FOLDER}/report.js)
file(WRITE ${FOLDER}/report_assets.cc "// Written by cmake/WriteAssets.cmake.
#include \"src/sim/report_assets.h\"

namespace hindsight {
namespace {
${style}${script}
template <std::size_t N>
std::string_view text(const unsigned char (&bytes)[N]) {
  return {reinterpret_cast<const char*>(bytes), N};
}

}  // namespace

ReportAsset report_style() { return {text(kStyleBytes), \"${style_hash}\"}; }
ReportAsset report_script() { return {text(kScriptBytes), \"${script_hash}\"}; }

}  // namespace hindsight
")
