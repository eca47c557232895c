// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Owns a tn_properties and the arrays that it points to, and fills them in a few words.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "sdk/program/op_groups.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

class PropertyTable {
 public:
  /// Strict, 64-bit indices, no limits; set the rest in fields().
  explicit PropertyTable(uint32_t flags);
  PropertyTable(const PropertyTable&) = delete;
  PropertyTable& operator=(const PropertyTable&) = delete;

  /// Optional ops: a group of op_groups.hpp, a language's (render/dialect_ops.hpp), or by name.
  PropertyTable& claim(std::span<const tn_opcode> ops);
  PropertyTable& claim(std::initializer_list<tn_opcode> ops);
  /// Storage: what dtypes.def claims of at most so many bytes, or these.
  PropertyTable& store_all(uint32_t most_bytes = 8);
  PropertyTable& store(std::initializer_list<tn_dtype> dtypes);
  /// Storage and arithmetic, `lanes` in a register (1 without vectors): what dtypes.def has as
  /// COMPUTE of at most so many bytes, or these.
  PropertyTable& compute_all(uint32_t lanes = 1, uint32_t most_bytes = 8);
  PropertyTable& compute(std::initializer_list<tn_dtype> dtypes, uint32_t lanes = 1);
  /// As compute_all, with as many lanes as fill a register of so many bytes; so have the dtypes
  /// that are stored by now.
  PropertyTable& compute_registers(uint32_t bytes);
  /// ATOMIC on these, whose rows are there.
  PropertyTable& atomics(std::initializer_list<tn_dtype> dtypes);
  PropertyTable& add_memory(const tn_memory_space& space);
  PropertyTable& add_atom(const tn_matrix_atom& atom);
  PropertyTable& workgroup(uint32_t x, uint32_t y, uint32_t z, uint32_t threads);

  tn_properties& fields() { return properties_; }
  const tn_properties& get() const { return properties_; }

 private:
  tn_dtype_caps& row(uint32_t dtype);
  void computes(uint32_t dtype, uint32_t lanes);
  void point();
  tn_properties properties_ = TN_INIT(tn_properties);
  std::vector<tn_dtype_caps> dtypes_;
  std::vector<tn_memory_space> spaces_;
  std::vector<tn_matrix_atom> atoms_;
};

/// An enumerated device without a uuid. `target` is what code is compiled for; where it or `driver`
/// has more than 63 bytes, its end is replaced by "#" and a checksum of all.
tn_device_info device_info(tn_device_kind kind, std::string_view name, std::string_view target,
                           std::string_view driver = "");

}  // namespace tenon::sdk
