// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of subgroup, matrix and asynchronous copy ops.
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

/// Checks operands, dtypes, lanes and imm of such an op. Its operands are visible, and as many as
/// the op table requires.
std::string check_cooperation(const ProgramView& program, const tn_op& op);

/// Tracks which values are matrix fragments. Only MATRIX ops, elementwise ops and loops may use
/// them, with one role.
class FragmentRoles {
 public:
  explicit FragmentRoles(const ProgramView& program)
      : program_(program), roles_(program.op_count()) {}
  /// Checks op number i, in order. The op is otherwise legal.
  std::string check(uint32_t i, const tn_op& op);
  /// Checks the next values of carries at the END of a loop.
  std::string check_next(uint32_t loop, const tn_op& end);

 private:
  std::string join(uint64_t& role, uint32_t value) const;
  ProgramView program_;
  std::vector<uint64_t> roles_;  ///< for each value: atom and role, 0 if it is not a fragment
};

}  // namespace tenon::sdk
