// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix atoms as cooperative matrices (SPV_KHR_cooperative_matrix). GLSL uses
// GL_EXT_spirv_intrinsics, as shaderc of Debian 12 does not support them. Type declarations have
// numbers, also of a tn_dtype, where SPIR-V needs ids; sdk/spirv/module.hpp replaces them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sdk/program/view.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// The atom of a subgroup with these sizes and dtypes, which its id encodes. Empty if GLSL lacks
/// it.
std::optional<tn_matrix_atom> glsl_atom(uint32_t m, uint32_t n, uint32_t k, uint32_t a, uint32_t b,
                                        uint32_t accumulator, uint32_t subgroup,
                                        bool keeps_denormals);

/// Prints the matrix ops of a program. Each fragment is one variable with opaque elements.
class GlslMatrices {
 public:
  explicit GlslMatrices(const ProgramView& program);
  bool empty() const { return roles_.empty(); }
  /// Type of a fragment; empty for other values.
  std::string type(uint32_t value) const;
  /// `value`, called `name`, as a fragment like `like`.
  std::string fragment_like(uint32_t like, uint32_t value, const std::string& name) const {
    return fragment(roles_[like], value, name);
  }
  /// The statement of a MATRIX op or an op on fragments. Throws TN_ERROR_UNSUPPORTED for ops
  /// without instruction, and if rows in memory are not known to have the alignment that Vulkan
  /// requires.
  std::string statement(const tn_op& op, const std::string& name,
                        const std::vector<std::string>& operands) const;
  /// Types and functions that a kernel with such statements uses.
  std::string declarations(std::string_view kernel) const;

 private:
  void learn(uint32_t value, uint64_t role);
  void learn_from(uint32_t value);
  std::string fragment(uint64_t role, uint32_t value, const std::string& name) const;
  std::string place(const tn_op& op, const std::vector<std::string>& operands) const;
  std::string order(const tn_op& op, const std::vector<std::string>& operands) const;
  void require_alignment(const tn_op& op) const;

  ProgramView program_;
  std::vector<uint64_t> roles_;  ///< of each value, 0: no fragment; empty without MATRIX ops
  std::vector<uint32_t> ends_;   ///< see region_closes
  std::vector<uint8_t> zeros_;   ///< see known_zero_bits
  bool is_learning_ = false;     ///< a role was found in this pass
};

}  // namespace tenon::sdk
