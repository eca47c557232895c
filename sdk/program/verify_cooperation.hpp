// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of the ops that threads do together or ahead: subgroup, matrix and asynchronous copy ops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/program/view.hpp"

namespace tenon::sdk {

inline constexpr uint64_t kMatrixAtomBits = UINT64_C(0xffffffff);  ///< of an imm: the atom
inline constexpr uint64_t kMatrixFragment = UINT64_C(1)
                                            << 48;  ///< set in the role of every fragment

bool is_cooperation(uint16_t op);

/// Operands, dtypes, lanes and imm of such an op, whose operands are known to be visible and of
/// the right number where the op table fixes it.
std::string check_cooperation(const ProgramView& program, const tn_op& op);

/// Which values are matrix fragments: only MATRIX and elementwise ops and loops may use those, and
/// never two roles at once.
class FragmentRoles {
 public:
  explicit FragmentRoles(const ProgramView& program)
      : program_(program), roles_(program.op_count()) {}
  /// Of op number i, in order; the op is otherwise legal.
  std::string check(uint32_t i, const tn_op& op);
  /// An END gives a loop's carries their next values.
  std::string check_next(uint32_t loop, const tn_op& end);

 private:
  std::string join(uint64_t& role, uint32_t value) const;
  ProgramView program_;
  std::vector<uint64_t> roles_;  ///< of each value: atom and role, or 0 if it is no fragment
};

}  // namespace tenon::sdk
