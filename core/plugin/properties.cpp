// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/properties.hpp"

#include <algorithm>
#include <bit>

#include "core/plugin/abi_struct.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr uint32_t kMostEntries = 256;

void check(bool holds, const std::string& who, const std::string& message) {
  if (!holds)
    throw Error(ErrorKind::kEnvironment, fmt::format("[properties] {}: expected {}", who, message));
}

std::vector<tn_memory_space> read_spaces(const tn_properties& p, const std::string& who) {
  check(p.memory_spaces && p.memory_space_count >= 1 && p.memory_space_count <= 32, who,
        fmt::format("1 to 32 memory spaces, got {}", p.memory_space_count));
  check(p.memory_space_stride >= offsetof(tn_memory_space, total), who,
        fmt::format("memory_space_stride of a tn_memory_space, got {}", p.memory_space_stride));
  std::vector<tn_memory_space> spaces;
  for (uint32_t i = 0; i < p.memory_space_count; ++i) {
    spaces.push_back(abi_element(p.memory_spaces, p.memory_space_stride, i));
    const uint32_t alignment = spaces.back().alignment;
    check(alignment > 0 && (alignment & (alignment - 1)) == 0 && alignment <= 1u << 24, who,
          fmt::format("an alignment of memory space {} that is a power of two, got {}", i,
                      alignment));
  }
  return spaces;
}

void read_dtypes(const tn_properties& p, const std::string& who, Capabilities& out) {
  check(p.dtype_count <= kMostEntries, who,
        fmt::format("at most {} dtypes, got {}", kMostEntries, p.dtype_count));
  check(p.dtype_count == 0 || (p.dtypes && p.dtype_stride >= 2 * sizeof(uint32_t)), who,
        fmt::format("dtypes with the stride of a tn_dtype_caps, got {}", p.dtype_stride));
  for (uint32_t i = 0; i < p.dtype_count; ++i) {
    const tn_dtype_caps caps = abi_element(p.dtypes, p.dtype_stride, i);
    if (caps.dtype >= out.dtypes.size()) continue;  // of a vendor, or newer than this core
    DTypeCaps& to = out.dtypes[caps.dtype];
    to.storage = caps.flags & TN_DTYPE_STORAGE;
    to.arithmetic = caps.flags & TN_DTYPE_ARITHMETIC;
    to.atomics = caps.flags & TN_DTYPE_ATOMICS;
    to.vector_lanes = static_cast<int>(std::clamp<uint32_t>(caps.vector_lanes, 1, 1024));
    to.rate = static_cast<int>(std::min<uint32_t>(caps.rate, 1u << 24));
  }
}

/// Bits of the lane, bits of the thread, bits of the lane, each run of bits in their order; nothing
/// for any other layout.
std::optional<FragmentDigits> read_digits(const uint8_t* bits) {
  size_t i = 0;
  const auto digit = [&](uint32_t source, int& count, int& step) {
    if (i < 8 && (bits[i] & source)) step = 1 << (bits[i] & 31);
    for (uint32_t next = i < 8 ? bits[i] : 0; i < 8 && bits[i] == next && (next & source); ++next) {
      count *= 2;
      ++i;
    }
  };
  FragmentDigits out;
  digit(TN_BIT_OF_LANE, out.lanes, out.lane_step);
  digit(TN_BIT_OF_THREAD, out.threads, out.thread_step);
  digit(TN_BIT_OF_LANE, out.more, out.more_step);
  if (i < 8 && bits[i]) return {};
  return out;
}

std::optional<AtomLayout> read_layout(const uint8_t (&bits)[16]) {
  if (std::ranges::all_of(bits, [](uint8_t bit) { return bit == 0; })) return {};
  const auto rows = read_digits(bits), columns = read_digits(bits + 8);
  if (!rows || !columns) return {};
  return AtomLayout{*rows, *columns};
}

void read_atoms(const tn_properties& p, const std::string& who, Capabilities& out) {
  check(p.matrix_atom_count <= kMostEntries, who,
        fmt::format("at most {} matrix atoms, got {}", kMostEntries, p.matrix_atom_count));
  check(p.matrix_atom_count == 0 ||
            (p.matrix_atoms && p.matrix_atom_stride >= offsetof(tn_matrix_atom, a_lanes)),
        who,
        fmt::format("matrix atoms with the stride of a tn_matrix_atom, got {}",
                    p.matrix_atom_stride));
  for (uint32_t i = 0; i < p.matrix_atom_count; ++i) {
    const tn_matrix_atom atom = abi_element(p.matrix_atoms, p.matrix_atom_stride, i);
    const auto is_known = [](uint32_t dtype) {
      return std::ranges::count(all_dtypes(), static_cast<DType>(dtype)) != 0 && dtype < 256;
    };
    constexpr uint32_t kKnown =
        TN_ATOM_FLUSHES_SUBNORMALS | TN_ATOM_REDUCED_OPERANDS | TN_ATOM_TRUNCATES;
    // Of a vendor, newer than this core, or without what it takes to emit it.
    if (!is_known(atom.a_dtype) || !is_known(atom.b_dtype) || !is_known(atom.accumulator_dtype))
      continue;
    const bool flushes = (atom.numerics & TN_ATOM_FLUSHES_SUBNORMALS) != 0;
    if (atom.scope == TN_SCOPE_THREAD) {
      const bool is_dot =
          atom.m == 1 && atom.n == 1 && std::has_single_bit(atom.k) && atom.k >= 2 && atom.k <= 16;
      if (is_dot && !(atom.numerics & ~uint32_t{TN_ATOM_FLUSHES_SUBNORMALS}))
        out.dots.push_back({static_cast<DType>(atom.a_dtype), static_cast<DType>(atom.b_dtype),
                            static_cast<DType>(atom.accumulator_dtype), static_cast<int>(atom.k),
                            flushes});
      continue;
    }
    if ((atom.scope != TN_SCOPE_SUBGROUP && atom.scope != TN_SCOPE_BLOCK) || !atom.a_lanes ||
        !atom.b_lanes || !atom.c_lanes || !atom.subgroup || (atom.numerics & ~kKnown))
      continue;
    const auto limited = [](uint32_t v) { return static_cast<int>(std::min<uint32_t>(v, 4096)); };
    out.atoms.push_back({.id = atom.id,
                         .m = limited(atom.m),
                         .n = limited(atom.n),
                         .k = limited(atom.k),
                         .a = static_cast<DType>(atom.a_dtype),
                         .b = static_cast<DType>(atom.b_dtype),
                         .accumulator = static_cast<DType>(atom.accumulator_dtype),
                         .a_lanes = limited(atom.a_lanes),
                         .b_lanes = limited(atom.b_lanes),
                         .c_lanes = limited(atom.c_lanes),
                         .subgroup = limited(atom.subgroup),
                         .flushes = flushes,
                         .reduces = (atom.numerics & TN_ATOM_REDUCED_OPERANDS) != 0,
                         .truncates = (atom.numerics & TN_ATOM_TRUNCATES) != 0,
                         .tiles = atom.scope == TN_SCOPE_BLOCK,
                         .layouts = {read_layout(atom.a_layout), read_layout(atom.b_layout),
                                     read_layout(atom.c_layout)}});
  }
}

void read_rates(const tn_properties& p, Capabilities& out) {
  if (!p.rates) return;
  const tn_rates rates = abi_read(p.rates);
  Rates& to = out.rates.emplace();
#define TN_RATE(name) to.name = rates.name;
#include "core/ir/rates.def"
}

}  // namespace

DeviceFacts read_properties(const tn_properties* raw, const std::string& who) {
  check(raw != nullptr, who, "a table of properties, got null");
  check(raw->struct_size >= offsetof(tn_properties, max_workgroup) && raw->struct_size <= 1u << 16,
        who,
        fmt::format("properties up to the memory spaces, got struct_size {}", raw->struct_size));
  const tn_properties p = abi_read(raw);
  DeviceFacts facts;
  facts.flags = p.flags;
  facts.spaces = read_spaces(p, who);
  Capabilities& c = facts.capabilities;
  c.compute = p.flags & TN_DEVICE_COMPUTE;
  c.async = p.flags & TN_DEVICE_ASYNC;
  c.deterministic = p.flags & TN_DEVICE_DETERMINISTIC;
  c.symbolic = p.flags & TN_DEVICE_SYMBOLIC;
  c.software = p.flags & TN_DEVICE_SOFTWARE;
  c.strict = p.accuracy != TN_ACCURACY_RELAXED;
  c.numerics = p.numerics;
  c.index_bits = p.index_bits == 32 ? 32 : 64;
  std::copy(std::begin(p.native_ops), std::end(p.native_ops), c.native_ops.begin());
  read_dtypes(p, who, c);
  std::copy(std::begin(p.max_workgroup), std::end(p.max_workgroup), c.max_workgroup.begin());
  std::copy(std::begin(p.max_grid), std::end(p.max_grid), c.max_grid.begin());
#define TN_LIMIT(type, name, unless_told) c.name = p.name;
#define TN_SIZE(type, name, unless_told) c.name = p.name;
#include "core/ir/limits.def"
  c.alignment = facts.spaces.empty() ? 0 : facts.spaces[0].alignment;
  check(p.storage_bytes <= 1 || p.storage_bytes == 4, who,
        fmt::format("storage_bytes of 0, 1 or 4, got {}", p.storage_bytes));
  c.storage_bytes = p.storage_bytes == 4 ? 4 : 1;
  if (c.storage_bytes < 4) read_atoms(p, who, c);  // fragments are not loaded from packed words
  read_rates(p, c);
  return facts;
}

}  // namespace tenon
