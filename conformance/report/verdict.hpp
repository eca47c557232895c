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

/// "206 of 29,600 cases; 12 of 786 cells of op and dtype": how much was tried.
std::string tried_text(const Report& report);
/// "cpu passes: 29,600 of 29,600 cases; 786 of 786 cells of op and dtype; none failed." Where not
/// every cell of op and dtype was tried, it is no pass.
std::string verdict(const Report& report);
/// "21 the device is synchronous": of UNSUPPORTED, the most frequent reasons with their counts.
std::vector<std::pair<std::string, uint64_t>> reasons_of(const Report& report);
/// More sentences: crashes that the run survived, cells that are only vacuous, an early end.
std::vector<std::string> remarks(const Report& report);

}  // namespace tenon::conformance::report
