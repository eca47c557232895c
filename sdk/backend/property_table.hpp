// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Owns a tn_properties with its arrays, and functions that fill them.
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
  /// Begins with strict numerics, 64-bit indices and no limits. Set the rest in fields().
  explicit PropertyTable(uint32_t flags);
  PropertyTable(const PropertyTable&) = delete;
  PropertyTable& operator=(const PropertyTable&) = delete;

  /// Claims optional ops: a group of op_groups.hpp, those of a language (render/dialect_ops.hpp),
  /// or by name.
  PropertyTable& claim(std::span<const tn_opcode> ops);
  PropertyTable& claim(std::initializer_list<tn_opcode> ops);
  /// Claims storage of the dtypes of at most `most_bytes` bytes that dtypes.def claims, or of
  /// these.
  PropertyTable& store_all(uint32_t most_bytes = 8);
  PropertyTable& store(std::initializer_list<tn_dtype> dtypes);
  /// Claims storage and arithmetic, with `lanes` in a register (1 without vectors), of the COMPUTE
  /// dtypes of dtypes.def of at most `most_bytes` bytes, or of these.
  PropertyTable& compute_all(uint32_t lanes = 1, uint32_t most_bytes = 8);
  PropertyTable& compute(std::initializer_list<tn_dtype> dtypes, uint32_t lanes = 1);
  /// As compute_all, with lanes that fill a register of `bytes` bytes, also for dtypes stored so
  /// far.
  PropertyTable& compute_registers(uint32_t bytes);
  /// Claims ATOMIC on these dtypes, which must be claimed already.
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

/// The info of a device without uuid. `target` is the compile target. If it or `driver` has more
/// than 63 bytes, its end is replaced by "#" and a checksum.
tn_device_info device_info(tn_device_kind kind, std::string_view name, std::string_view target,
                           std::string_view driver = "");

}  // namespace tenon::sdk
