// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of report.html, each a whole element, all text escaped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/report.hpp"

namespace tenon::conformance {

extern const std::string_view kPageStyle, kPageScript;  ///< page.css and page.js

/// How a status looks: never by its colour alone.
struct Look {
  std::string_view css, symbol, meaning;
};
Look look(Status status);
std::string badge(Status status);  ///< its symbol in its colour

/// data-op, data-dtype, data-status, and data-problem of a failure: what the filter goes by.
std::string filter_data(std::string_view op, std::string_view dtype, Status status);
std::string cell_id(std::string_view op, std::string_view dtype);

std::string matrix_section(const Report& report);    ///< op x dtype, by groups
std::string table_section(const Report& report);     ///< the same as a table, with all numbers
std::string failures_section(const Report& report);  ///< empty if there are none
std::string accuracy_section(const Report& report);
std::string profile_section(const Report& report);
std::string calls_section(const Report& report);  ///< checks of the ABI, sequences
std::string coverage_section(const Report& report);
std::string declarations_section(const Report& report);
std::string environment_section(const Report& report);

std::string plot(const CellRow& row);  ///< one figure of accuracy_section

/// A row of a table: cells that are already markup. The first is a heading.
std::string table_row(const std::vector<std::string>& cells);
std::string table_head(const std::vector<std::string_view>& names);

}  // namespace tenon::conformance
