// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Capabilities of a processor, with the arrays that they point to.
#pragma once

#include <span>
#include <vector>

#include "plugins/cpu/host_info.hpp"
#include "plugins/cpu/target.hpp"
#include "tenon/plugin.h"

namespace tenon::cpu {

inline constexpr uint64_t kMemoryAlignment = 64;

/// Not movable: it has pointers into itself.
class Properties {
 public:
  Properties(const TargetSpec& target, const HostInfo& host, unsigned threads);
  Properties(const Properties&) = delete;
  Properties& operator=(const Properties&) = delete;
  const tn_properties& get() const { return table_; }

 private:
  void claim(std::span<const tn_opcode> ops);
  tn_properties table_;
  std::vector<tn_dtype_caps> dtypes_;
  std::vector<tn_matrix_atom> atoms_;
  tn_memory_space memory_;
};

}  // namespace tenon::cpu
