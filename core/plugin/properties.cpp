// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/properties.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <span>

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
    const uint32_t of_reads = spaces.back().read_alignment;
    check((of_reads & (of_reads - 1)) == 0 && of_reads <= alignment, who,
          fmt::format("a read_alignment of memory space {} that is 0 or a power of two up to {}, "
                      "got {}",
                      i, alignment, of_reads));
    if (of_reads == 0) spaces.back().read_alignment = alignment;
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
    if (caps.dtype >= out.dtypes.size()) continue;  // a vendor dtype, or newer than this core
    DTypeCaps& to = out.dtypes[caps.dtype];
    to.storage = caps.flags & TN_DTYPE_STORAGE;
    to.arithmetic = caps.flags & TN_DTYPE_ARITHMETIC;
    to.atomics = caps.flags & TN_DTYPE_ATOMICS;
    to.vector_lanes = static_cast<int>(std::clamp<uint32_t>(caps.vector_lanes, 1, 1024));
    to.rate = static_cast<int>(std::min<uint32_t>(caps.rate, 1u << 24));
  }
}

/// A fragment of an atom, and its layout as the plugin claims it.
struct ClaimedLayout {
  const uint8_t (&bits)[16];
  uint32_t rows, columns, lanes, threads;
  bool is_of_all;  ///< no two threads hold one element
};

/// Parses runs of bits of the lane, the thread, and the lane again, each in order. Empty for any
/// other layout.
std::optional<FragmentDigits> read_digits(std::span<const uint8_t> bits) {
  FragmentDigits out;
  size_t i = 0;
  const auto digit = [&](uint32_t source, int& count, int& step) {
    if (i == bits.size() || !(bits[i] & source)) return;
    step = 1 << (bits[i] & ~source);
    for (uint32_t next = bits[i]; i < bits.size() && bits[i] == next; ++next, ++i) count *= 2;
  };
  digit(TN_BIT_OF_LANE, out.lanes, out.lane_step);
  digit(TN_BIT_OF_THREAD, out.threads, out.thread_step);
  digit(TN_BIT_OF_LANE, out.more, out.more_step);
  return i == bits.size() ? std::optional(out) : std::nullopt;
}

/// Empty if no layout is claimed, or a wrong one: rows and columns must use distinct bits, all bits
/// of the lane, and all bits of the thread if no two threads hold one element.
std::optional<AtomLayout> read_layout(const ClaimedLayout& claimed) {
  std::set<uint8_t> used;
  const auto half = [&](size_t from, uint32_t extent) -> std::optional<FragmentDigits> {
    const auto count = static_cast<size_t>(std::countr_zero(extent));
    if (!std::has_single_bit(extent) || count > 8) return {};
    for (size_t i = 0; i < 8; ++i) {
      const uint32_t bit = claimed.bits[from + i];
      if ((bit != 0) != (i < count)) return {};
      if (bit == 0) continue;
      const bool is_thread = bit & TN_BIT_OF_THREAD;
      const uint32_t number = bit & ~(is_thread ? TN_BIT_OF_THREAD : TN_BIT_OF_LANE);
      if ((!is_thread && !(bit & TN_BIT_OF_LANE)) || number >= 32 ||
          uint64_t{1} << number >= (is_thread ? claimed.threads : claimed.lanes) ||
          !used.insert(static_cast<uint8_t>(bit)).second)
        return {};
    }
    return read_digits(std::span(claimed.bits).subspan(from, count));
  };
  const auto rows = half(0, claimed.rows), columns = half(8, claimed.columns);
  if (!rows || !columns) return {};
  const auto count_of = [&](uint32_t source) {
    return uint64_t{1} << std::ranges::count_if(used, [&](uint8_t b) { return b & source; });
  };
  if (count_of(TN_BIT_OF_LANE) != claimed.lanes ||
      (claimed.is_of_all && count_of(TN_BIT_OF_THREAD) != claimed.threads))
    return {};
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
    // Skip atoms with vendor dtypes, newer than this core, or that it cannot emit.
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
    const auto is_size = [](uint32_t v) { return v >= 1 && v <= 1024; };
    if ((atom.scope != TN_SCOPE_SUBGROUP && atom.scope != TN_SCOPE_BLOCK) || !is_size(atom.m) ||
        !is_size(atom.n) || !is_size(atom.k) || !is_size(atom.a_lanes) || !is_size(atom.b_lanes) ||
        !is_size(atom.c_lanes) || !is_size(atom.subgroup) || (atom.numerics & ~kKnown))
      continue;
    check(p.flags & TN_DEVICE_SUBGROUP_BARRIER, who,
          fmt::format("TN_DEVICE_SUBGROUP_BARRIER, as matrix atom {} is of several threads",
                      atom.id));
    out.atoms.push_back(
        {.id = atom.id,
         .m = static_cast<int>(atom.m),
         .n = static_cast<int>(atom.n),
         .k = static_cast<int>(atom.k),
         .a = static_cast<DType>(atom.a_dtype),
         .b = static_cast<DType>(atom.b_dtype),
         .accumulator = static_cast<DType>(atom.accumulator_dtype),
         .a_lanes = static_cast<int>(atom.a_lanes),
         .b_lanes = static_cast<int>(atom.b_lanes),
         .c_lanes = static_cast<int>(atom.c_lanes),
         .subgroup = static_cast<int>(atom.subgroup),
         .flushes = flushes,
         .reduces = (atom.numerics & TN_ATOM_REDUCED_OPERANDS) != 0,
         .truncates = (atom.numerics & TN_ATOM_TRUNCATES) != 0,
         .tiles = atom.scope == TN_SCOPE_BLOCK,
         .layouts = {
             read_layout({atom.a_layout, atom.m, atom.k, atom.a_lanes, atom.subgroup, false}),
             read_layout({atom.b_layout, atom.k, atom.n, atom.b_lanes, atom.subgroup, false}),
             read_layout({atom.c_layout, atom.m, atom.n, atom.c_lanes, atom.subgroup, true})}});
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
  if (!facts.spaces.empty()) {
    c.alignment = facts.spaces[0].alignment;
    c.read_alignment = facts.spaces[0].read_alignment;
  }
  check(p.storage_bytes <= 1 || p.storage_bytes == 4, who,
        fmt::format("storage_bytes of 0, 1 or 4, got {}", p.storage_bytes));
  c.storage_bytes = p.storage_bytes == 4 ? 4 : 1;
  if (c.storage_bytes < 4) read_atoms(p, who, c);  // fragments cannot be loaded from packed words
  read_rates(p, c);
  return facts;
}

}  // namespace tenon
