// A chart as data: JSON for the page's script, and a table for readers without one.
//
// Thread-safety: pure functions.

#pragma once

#include <string>
#include <vector>

#include "src/sim/report.h"

namespace hindsight {

/// A number as a page's data hold it: nine digits; "null" where it is not finite.
std::string data_number(double value);

/// RETURNS: {"charts":[…]} that stands safely inside a script element: no <, > or & in it.
std::string charts_json(const std::vector<const Chart*>& charts);

/// The chart's figures: a row per category, or per x. Curves of many points are thinned to
/// evenly spaced rows, the last always among them, and the footnote says so.
ReportTable chart_table(const Chart& chart);

}  // namespace hindsight
