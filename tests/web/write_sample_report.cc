// Writes the sample report to the file that is named, for the check in a browser.

#include <cstdio>
#include <fstream>

#include "tests/support/sample_report.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_sample_report FILE\n");
    return 2;
  }
  std::ofstream file(argv[1], std::ios::binary);
  file << hindsight::render_html(hindsight::sample_report());
  file.close();
  return file ? 0 : 1;
}
