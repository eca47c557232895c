// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report in a sentence or two, the same in every form.
#pragma once

#include <string>
#include <vector>

#include "conformance/report/report.hpp"

namespace tenon::conformance::report {

std::string grouped(uint64_t number);                          ///< "25,824"
std::string counted(uint64_t number, std::string_view thing);  ///< "1 case", "25,824 cases"
std::string ulp_text(double ulp);                              ///< "0.5", "3", "beyond measure"

/// A row of an op and a dtype; the others are checks of calls ("api.short_structs", "-").
bool is_cell(const CellRow& row);

/// "cpu passes: 25,824 cases in 1,053 cells of op and dtype, none failed."
std::string verdict(const Report& report);
/// More sentences: crashes that the run survived, cells that are only vacuous, an early end.
std::vector<std::string> remarks(const Report& report);

}  // namespace tenon::conformance::report
