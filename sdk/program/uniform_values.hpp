// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uniformity analysis: which values are equal in all threads of a workgroup or subgroup that reach
// the op together; in a loop, in the same iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/program/varying_bits.hpp"
#include "sdk/program/view.hpp"

namespace tenon::sdk {

/// For a program whose ops are otherwise legal, and one scope: block or subgroup.
class UniformValues {
 public:
  UniformValues(const ProgramView& program, tn_scope scope);

  bool is_equal(uint32_t value) const { return bits_[value].varies == 0; }
  /// Whether all threads leave a LOOP in the same iteration, by its bounds and its conditions.
  bool bounds_are_equal(uint32_t loop) const { return is_bounded_[loop]; }
  bool ends_equal(uint32_t loop) const {
    return is_bounded_[loop] && (!last_[loop] || is_equal(last_[loop]));
  }
  /// The condition of a WHILE loop.
  uint32_t condition(uint32_t loop) const { return last_[loop]; }

 private:
  void find_users();
  void solve();
  bool update(uint32_t i);
  VaryingBits evaluate(uint32_t i, const tn_op& op);
  VaryingBits of_index(const tn_op& op) const;
  VaryingBits of_param(const tn_op& op) const;
  VaryingBits of_load(const tn_op& op) const;
  VaryingBits of_loop(uint32_t i, const tn_op& op);
  VaryingBits of_carry(uint32_t i, const tn_op& op) const;
  VaryingBits of_index_sum(const tn_op& op, VaryingBits bits) const;
  VaryingBits of_compare(const tn_op& op) const;
  VaryingBits of_division(const tn_op& op, unsigned width) const;
  VaryingBits of_shift(const tn_op& op, unsigned width) const;
  VaryingBits of_subgroup_op(const tn_op& op) const;

  const VaryingBits& operand(const tn_op& op, uint32_t k) const {
    return bits_[program_.operands(op)[k]];
  }
  const tn_op& operand_op(const tn_op& op, uint32_t k) const {
    return program_.op(program_.operands(op)[k]);
  }
  bool any_varies(const tn_op& op) const;

  ProgramView program_;
  bool is_block_;                ///< the scope
  uint64_t threads_ = 1;         ///< of a workgroup
  VaryingBits thread_;           ///< the number of a thread in its workgroup
  bool is_one_subgroup_;         ///< the threads of the scope exchange values by subgroup ops
  std::vector<bool> is_atomic_;  ///< params that an ATOMIC changes

  std::vector<VaryingBits> bits_;
  std::vector<uint8_t> rises_;    ///< how often each value changed
  std::vector<bool> is_bounded_;  ///< for LOOPs: bounds_are_equal()
  std::vector<bool>
      is_left_apart_;           ///< LOOPs whose CARRYs were marked as not uniform after the loop
  std::vector<uint32_t> last_;  ///< of WHILE loops: the last operand of their END; else 0
  std::vector<uint32_t> next_;  ///< of CARRYs: the operand of the END
  std::vector<uint32_t> first_user_, users_;  ///< of value i: [first_user_[i], first_user_[i + 1])
};

}  // namespace tenon::sdk
