// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix atoms as cooperative matrices (SPV_KHR_cooperative_matrix), in GLSL by
// GL_EXT_spirv_intrinsics: shaderc of Debian 12 has no words for them. A type's declaration has
// numbers, of a tn_dtype too, where SPIR-V has ids; sdk/spirv/module.hpp puts these in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sdk/program/view.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// The atom of a subgroup with these sizes and dtypes, whose id says them; none if the language
/// has no words for it.
std::optional<tn_matrix_atom> glsl_atom(uint32_t m, uint32_t n, uint32_t k, uint32_t a, uint32_t b,
                                        uint32_t accumulator, uint32_t subgroup,
                                        bool keeps_denormals);

/// Those of a program: each fragment is one variable, whose elements have no names.
class GlslMatrices {
 public:
  explicit GlslMatrices(const ProgramView& program);
  bool empty() const { return roles_.empty(); }
  /// Of a fragment's variable; empty for other values.
  std::string type(uint32_t value) const;
  /// `value`, called `name`, as a fragment like that one: an array is one of equal elements.
  std::string fragment_like(uint32_t like, uint32_t value, const std::string& name) const {
    return fragment(roles_[like], value, name);
  }
  /// Of a MATRIX op, or one on fragments. Throws TN_ERROR_UNSUPPORTED for what has no instruction,
  /// and where rows in memory are not known to be aligned as Vulkan wants them.
  std::string statement(const tn_op& op, const std::string& name,
                        const std::vector<std::string>& operands) const;
  /// The types and functions that a kernel of such statements uses.
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
