// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/capabilities.hpp"

#include <iterator>

#include "core/ir/node_hash.hpp"

namespace tenon {

bool Capabilities::keeps_promises(const MatrixAtom& atom, Precision allowed) const {
  constexpr uint32_t kFlushes = kFlushInput | kFlushOutput;
  if (atom.flushes && (numerics & kFlushes) != kFlushes) return false;
  // Truncated sums stay within the bound of a reduction: ir.md.
  return !atom.reduces || factor_bits(allowed) > 0;
}

bool Capabilities::keeps_promises(const DotAtom& atom, Precision allowed) const {
  constexpr uint32_t kFlushes = kFlushInput | kFlushOutput;
  return !atom.flushes || allowed != Precision::kExact || (numerics & kFlushes) == kFlushes;
}

namespace {

/// Mixes a number, a struct with fields(), or a container of these.
template <class T>
void mix(uint64_t& hash, const T& value) {
  if constexpr (requires { value.fields(); }) {
    std::apply([&](const auto&... each) { (mix(hash, each), ...); }, value.fields());
  } else if constexpr (requires { std::size(value); }) {
    hash = hash_mix(hash, std::size(value));
    for (const auto& each : value) mix(hash, each);
  } else if constexpr (requires { value.has_value(); }) {
    hash = hash_mix(hash, value.has_value());
    if (value) mix(hash, *value);
  } else {
    hash = hash_mix(hash, static_cast<uint64_t>(value));
  }
}

}  // namespace

uint64_t Capabilities::hash() const {
  uint64_t hash = 1;
  mix(hash, *this);
  return hash;
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
