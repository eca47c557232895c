// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that can be edited: ops are marked as gone, and values as another one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sdk/program/builder.hpp"

namespace tenon::conformance::shrink {

class Draft {
 public:
  struct Op {
    tn_op op = {};
    std::vector<uint32_t> operands;
    bool is_gone = false;
    uint32_t closes = 0;  ///< of a region: the op that closes it
  };

  explicit Draft(const sdk::ProgramView& program);

  std::vector<Op> ops;
  std::vector<tn_param> params;
  uint32_t workgroup[3];

  bool is_value(uint32_t i) const { return !ops[i].is_gone && ops[i].op.lanes > 0; }
  const Op& at(uint32_t i) const { return ops[i]; }
  /// Uses of `from` in [first, last) become uses of `to`.
  void replace(uint32_t from, uint32_t to, uint32_t first = 0, uint32_t last = UINT32_MAX);
  /// The op becomes a constant of its type.
  void make_constant(uint32_t i, uint64_t bits);
  /// A region goes, with what is in it; what a loop carried is what it began with.
  void drop_region(uint32_t opener);
  /// A region's inside runs once, for its first iteration.
  void unwrap(uint32_t opener);
  /// Of a loop.
  void drop_carry(uint32_t loop, uint32_t number);
  /// Without what nothing uses. Nothing where that is no program.
  std::optional<sdk::Program> finish();

 private:
  void drop_unused();
  std::string name_;
  std::vector<std::string> names_;
  uint32_t subgroup_;
};

}  // namespace tenon::conformance::shrink
