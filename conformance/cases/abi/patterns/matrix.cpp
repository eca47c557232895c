// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps `matrix ATOM ROW SEED`: the runner makes the program, since only the device says what its
// atoms are (matrix_program.hpp).
#include "conformance/cases/abi/patterns/matrix_program.hpp"
#include "conformance/cases/abi/patterns/pattern.hpp"

namespace tenon::conformance::abi {

std::vector<Pattern> matrix_patterns() {
  constexpr int kTimes = 3;  ///< each row, with whatever atom
  std::vector<Pattern> out;
  for (int i = 0; i < kTimes; ++i)
    for (size_t row = 0; row < kMatrixRows.size(); ++row)
      out.push_back(
          {"matrix", std::string(kMatrixRows[row].name), [row](Choices& choices) {
             const int64_t any_atom = choices.between(0, 63);
             return DrawnPattern{{SequenceStep{
                 "matrix", {any_atom, static_cast<int64_t>(row), choices.between(1, 99)}}}};
           }});
  return out;
}

}  // namespace tenon::conformance::abi
