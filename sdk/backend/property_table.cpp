// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds capability tables in vectors.
#include "sdk/backend/property_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/backend/checksum.hpp"
#include "sdk/program/dtype_info.hpp"
#include "sdk/program/view.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {

PropertyTable::PropertyTable(uint32_t flags) {
  properties_.flags = flags;
  properties_.accuracy = TN_ACCURACY_STRICT;
  properties_.index_bits = 64;
  properties_.dtype_stride = sizeof(tn_dtype_caps);
  properties_.memory_space_stride = sizeof(tn_memory_space);
  properties_.matrix_atom_stride = sizeof(tn_matrix_atom);
  workgroup(1, 1, 1, 1);
}

PropertyTable& PropertyTable::claim(std::initializer_list<tn_opcode> ops) {
  return claim(std::span(ops.begin(), ops.size()));
}

PropertyTable& PropertyTable::claim(std::span<const tn_opcode> ops) {
  for (const uint32_t op : ops) properties_.native_ops[op >> 6] |= uint64_t{1} << (op & 63);
  return *this;
}

PropertyTable& PropertyTable::store_all(uint32_t most_bytes) {
  for (const DTypeInfo& dtype : all_dtypes()) {
    if (dtype.claim == DTypeClaim::NONE || dtype.bytes > most_bytes) continue;
    row(dtype.dtype).flags |= TN_DTYPE_STORAGE;
  }
  point();
  return *this;
}

PropertyTable& PropertyTable::store(std::initializer_list<tn_dtype> dtypes) {
  for (const uint32_t dtype : dtypes) row(dtype).flags |= TN_DTYPE_STORAGE;
  point();
  return *this;
}

PropertyTable& PropertyTable::compute_all(uint32_t lanes, uint32_t most_bytes) {
  for (const DTypeInfo& dtype : all_dtypes()) {
    if (dtype.claim == DTypeClaim::COMPUTE && dtype.bytes <= most_bytes)
      computes(dtype.dtype, lanes);
  }
  point();
  return *this;
}

PropertyTable& PropertyTable::compute_registers(uint32_t bytes) {
  for (const DTypeInfo& dtype : all_dtypes()) {
    if (dtype.claim == DTypeClaim::COMPUTE) computes(dtype.dtype, bytes / dtype.bytes);
  }
  // Dtypes that are only stored are moved in vectors of the same size.
  for (tn_dtype_caps& stored : dtypes_)
    stored.vector_lanes = bytes / dtype_bytes(static_cast<uint8_t>(stored.dtype));
  point();
  return *this;
}

PropertyTable& PropertyTable::compute(std::initializer_list<tn_dtype> dtypes, uint32_t lanes) {
  for (const uint32_t dtype : dtypes) computes(dtype, lanes);
  point();
  return *this;
}

PropertyTable& PropertyTable::atomics(std::initializer_list<tn_dtype> dtypes) {
  for (const uint32_t dtype : dtypes) row(dtype).flags |= TN_DTYPE_ATOMICS;
  point();
  return claim({TN_OP_ATOMIC});
}

PropertyTable& PropertyTable::add_memory(const tn_memory_space& space) {
  spaces_.push_back(space);
  point();
  return *this;
}

PropertyTable& PropertyTable::add_atom(const tn_matrix_atom& atom) {
  atoms_.push_back(atom);
  point();
  return *this;
}

PropertyTable& PropertyTable::workgroup(uint32_t x, uint32_t y, uint32_t z, uint32_t threads) {
  properties_.max_workgroup[0] = x;
  properties_.max_workgroup[1] = y;
  properties_.max_workgroup[2] = z;
  properties_.max_workgroup_threads = threads;
  return *this;
}

tn_dtype_caps& PropertyTable::row(uint32_t dtype) {
  const auto at = std::ranges::find(dtypes_, dtype, &tn_dtype_caps::dtype);
  return at != dtypes_.end() ? *at : dtypes_.emplace_back(tn_dtype_caps{dtype, 0, 1, 0});
}

void PropertyTable::computes(uint32_t dtype, uint32_t lanes) {
  row(dtype).flags |= TN_DTYPE_STORAGE | TN_DTYPE_ARITHMETIC;
  row(dtype).vector_lanes = lanes;
}

void PropertyTable::point() {
  properties_.dtype_count = static_cast<uint32_t>(dtypes_.size());
  properties_.dtypes = dtypes_.data();
  properties_.memory_space_count = static_cast<uint32_t>(spaces_.size());
  properties_.memory_spaces = spaces_.data();
  properties_.matrix_atom_count = static_cast<uint32_t>(atoms_.size());
  properties_.matrix_atoms = atoms_.data();
}

/// Text that is too long ends with its checksum, so that caches distinguish texts with equal
/// beginnings.
template <size_t kCapacity>
static void copy_key(char (&to)[kCapacity], std::string_view text) {
  if (text.size() < kCapacity) return copy_text(to, kCapacity, text);
  const std::string sum = fmt::format("#{:016x}", checksum(text.data(), text.size()));
  copy_text(to, kCapacity, std::string(text.substr(0, kCapacity - 1 - sum.size())) + sum);
}

tn_device_info device_info(tn_device_kind kind, std::string_view name, std::string_view target,
                           std::string_view driver) {
  tn_device_info info = TN_INIT(tn_device_info);
  info.kind = kind;
  copy_text(info.name, sizeof info.name, name);
  copy_key(info.target, target);
  copy_key(info.driver, driver);
  return info;
}

}  // namespace tenon::sdk
