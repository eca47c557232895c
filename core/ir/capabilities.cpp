// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/capabilities.hpp"

#include "core/ir/node_hash.hpp"

namespace tenon {

bool Capabilities::keeps_promises(const MatrixAtom& atom, Precision allowed) const {
  constexpr uint32_t kFlushes = kFlushInput | kFlushOutput;
  if (atom.flushes && (numerics & kFlushes) != kFlushes) return false;
  // Sums that are cut keep the bound of a reduction: ir.md.
  return !atom.reduces || factor_bits(allowed) > 0;
}

bool Capabilities::keeps_promises(const DotAtom& atom, Precision allowed) const {
  constexpr uint32_t kFlushes = kFlushInput | kFlushOutput;
  return !atom.flushes || allowed != Precision::kExact || (numerics & kFlushes) == kFlushes;
}

uint64_t Capabilities::hash() const {
  uint64_t h = 1;
  const auto mix = [&](uint64_t v) { h = hash_mix(h, v); };
  for (const bool flag : {compute, async, deterministic, symbolic, strict, software}) mix(flag);
  mix(numerics);
  mix(static_cast<uint64_t>(index_bits));
  for (const uint64_t word : native_ops) mix(word);
  for (const DTypeCaps& d : dtypes) {
    for (const bool flag : {d.storage, d.arithmetic, d.atomics}) mix(flag);
    mix(static_cast<uint64_t>(d.vector_lanes));
    mix(static_cast<uint64_t>(d.rate));
  }
  for (const uint32_t limit : max_workgroup) mix(limit);
  for (const uint32_t limit : max_grid) mix(limit);
#define TN_LIMIT(type, name, unless_told) mix(name);
#define TN_SIZE(type, name, unless_told) mix(name);
#include "core/ir/limits.def"
  mix(alignment);
  mix(static_cast<uint64_t>(storage_bytes));
  for (const MatrixAtom& a : atoms) {
    mix(a.id);
    for (const bool flag : {a.flushes, a.reduces, a.truncates, a.tiles}) mix(flag);
    for (const int v : {a.m, a.n, a.k, a.a_lanes, a.b_lanes, a.c_lanes, a.subgroup})
      mix(static_cast<uint64_t>(v));
    for (const DType d : {a.a, a.b, a.accumulator}) mix(static_cast<uint64_t>(d));
  }
  for (const DotAtom& d : dots) {
    for (const DType dtype : {d.a, d.b, d.accumulator}) mix(static_cast<uint64_t>(dtype));
    mix(static_cast<uint64_t>(d.k));
    mix(d.flushes);
  }
  return h;
}

Capabilities generic_capabilities() {
  Capabilities c;
  for (const OpInfo& info : all_ops()) {
    const auto code = static_cast<uint32_t>(info.op);
    if (info.kind != OpKind::RESERVED) c.native_ops[code >> 6] |= uint64_t{1} << (code & 63);
  }
  for (const DType dtype : all_dtypes()) {
    DTypeCaps& caps = c.dtypes[static_cast<size_t>(dtype)];
    caps = {.storage = true, .arithmetic = true, .atomics = true};
  }
  return c;
}

}  // namespace tenon
