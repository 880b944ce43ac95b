// Finding: something that is wrong with a file of a data folder.

#pragma once

#include <string>

namespace hindsight {

struct Finding {
  std::string file;     // its name in the folder
  std::string problem;  // what is wrong, and what to do
};

}  // namespace hindsight
