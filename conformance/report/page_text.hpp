// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Style and script of report.html.
#pragma once

#include <string_view>

namespace tenon::conformance::report {

extern const std::string_view kPageStyle;   ///< page.css
extern const std::string_view kPageScript;  ///< page_draw.js, page_plot.js, page_use.js

}  // namespace tenon::conformance::report
