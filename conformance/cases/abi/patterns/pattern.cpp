// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/patterns/pattern.hpp"

#include <algorithm>

#include "conformance/cases/abi/patterns/made_program.hpp"

namespace tenon::conformance::abi {

const std::vector<Pattern>& all_patterns() {
  static const std::vector<Pattern> all = [] {
    std::vector<std::vector<Pattern>> families;
    families.push_back(idiom_patterns());
    families.push_back(neighbour_patterns());
    families.push_back(cooperation_patterns());
    families.push_back(depth_patterns());
    families.push_back(product_patterns());
    families.push_back(order_patterns());
    families.push_back(loop_patterns());
    for (const AtomFamily& family : atom_families()) families.push_back(atom_patterns(family.verb));
    size_t most = 0;
    for (const auto& family : families) most = std::max(most, family.size());
    std::vector<Pattern> out;
    for (size_t i = 0; i < most; ++i)
      for (auto& family : families)
        if (i < family.size()) out.push_back(std::move(family[i]));
    return out;
  }();
  return all;
}

}  // namespace tenon::conformance::abi
