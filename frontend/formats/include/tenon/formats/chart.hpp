// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Learning curves as a picture: SVG 1.1, which browsers and GitHub show.
#pragma once

#include <string>
#include <vector>

#include "tenon/export.hpp"

namespace tenon::formats {

/// A line through (x, y); it is broken where either is not finite.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

struct ChartOptions {
  std::string title = {}, x_label = {}, y_label = {};
  int width = 720, height = 400;
};

/// Lines of several colours between axes with round ticks, and a legend of their names. Throws
/// kInvalid for series whose x and y are of different lengths, and for sizes below 200 x 120 or
/// above 16384 x 16384.
TENON_API std::string line_chart(const std::vector<Series>& series,
                                 const ChartOptions& options = {});

}  // namespace tenon::formats
