// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/patterns/made_program.hpp"

#include <algorithm>
#include <array>

#include "conformance/cases/abi/patterns/pattern.hpp"

namespace tenon::conformance::abi {

std::span<const AtomFamily> atom_families() {
  static const std::array all = {matrix_family(), tile_family(), dot_family()};
  return all;
}

const AtomFamily* find_atom_family(std::string_view verb) {
  const auto all = atom_families();
  const auto found = std::ranges::find(all, verb, &AtomFamily::verb);
  return found == all.end() ? nullptr : &*found;
}

std::vector<Pattern> atom_patterns(std::string_view verb) {
  constexpr int64_t kAtomsTogether = 4;  ///< in a case, one after the other
  const AtomFamily& family = *find_atom_family(verb);
  std::vector<Pattern> out;
  for (size_t row = 0; row < family.rows.size(); ++row)
    out.push_back(
        {family.verb, std::string(family.rows[row].name), [&family, row](Choices& choices) {
           DrawnPattern drawn;
           const int64_t first = choices.between(0, 63);
           for (int64_t atom = first; atom < first + kAtomsTogether; ++atom)
             drawn.steps.push_back({std::string(family.verb),
                                    {atom, static_cast<int64_t>(row), choices.between(1, 99)}});
           return drawn;
         }});
  return out;
}

}  // namespace tenon::conformance::abi
