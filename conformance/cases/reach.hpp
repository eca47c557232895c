// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cases have tried, as numbers that workers and reports pass around: the cells of graphs
// (graphs/coverage.hpp), and after them the links of programs (abi/program_links.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/cases/case.hpp"

namespace tenon::conformance {

uint32_t reach_size();
std::string reach_name(uint32_t cell);
/// Ascending.
std::vector<uint32_t> reach_of(const Case& test);

/// Where the links of programs begin.
uint32_t first_link();

}  // namespace tenon::conformance
