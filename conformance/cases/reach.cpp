// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/reach.hpp"

#include <set>

#include "conformance/cases/abi/program_links.hpp"
#include "conformance/cases/graphs/coverage.hpp"

namespace tenon::conformance {

uint32_t first_link() { return graphs::coverage_size(); }
uint32_t reach_size() { return first_link() + abi::link_count(); }

std::string reach_name(uint32_t cell) {
  return cell < first_link() ? graphs::coverage_name(cell) : abi::link_name(cell - first_link());
}

std::vector<uint32_t> reach_of(const Case& test) {
  if (!test.sequence) return graphs::coverage_of(test);
  std::set<uint32_t> cells;
  for (const abi::SequenceStep& step : test.sequence->steps)
    for (const uint32_t link : abi::links_of(step)) cells.insert(first_link() + link);
  return {cells.begin(), cells.end()};
}

}  // namespace tenon::conformance
