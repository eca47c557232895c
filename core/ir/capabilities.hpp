// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Capabilities of a device: the core's copy of tn_properties. Scheduling, legalisation and kernel
// rules read them; nothing in the core depends on the name of a backend. A struct lists its
// members in fields(), by which it is hashed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/ir/dtype.hpp"
#include "core/ir/op.hpp"
#include "core/ir/rates.hpp"
#include "tenon/precision.hpp"

namespace tenon {

/// Bits of tn_properties.numerics, equal to TN_NUMERICS_.
enum Numerics : uint32_t {
  kFlushInput = 1,
  kFlushOutput = 2,
  kNoNan = 4,
  kNoInf = 8,
  kNoSignedZero = 16,
  kContract = 32,
};

struct DTypeCaps {
  bool storage = false, arithmetic = false, atomics = false;
  int vector_lanes = 1;
  int rate = 0;
  auto fields() const { return std::tie(storage, arithmetic, atomics, vector_lanes, rate); }
};

/// Layout of a fragment along its rows or columns. The number of an element has three digits,
/// lowest first: `lanes` values from the lane, `threads` values from the thread, and `more` values
/// from the lane again, each a power of two. `lane_step`, `thread_step` and `more_step` say where
/// the digits begin in the numbers of lane and thread.
struct FragmentDigits {
  int lanes = 1, threads = 1, more = 1;
  int lane_step = 1, thread_step = 1, more_step = 1;
  auto fields() const { return std::tie(lanes, threads, more, lane_step, thread_step, more_step); }
};
struct AtomLayout {
  FragmentDigits rows, columns;
  auto fields() const { return std::tie(rows, columns); }
};

/// A matrix multiply-add of a subgroup (tn_matrix_atom).
struct MatrixAtom {
  uint32_t id = 0;
  int m = 0, n = 0, k = 0;
  DType a = DType::kVoid, b = DType::kVoid, accumulator = DType::kVoid;
  int a_lanes = 0, b_lanes = 0, c_lanes = 0;
  int subgroup = 0;
  // Deviations from products and sums in the dtype of the accumulator (TN_ATOM_ bits).
  bool flushes = false;                       ///< subnormal operands and results may become zero
  bool reduces = false;                       ///< f32 operands are truncated to tf32
  bool truncates = false;                     ///< sums may be truncated, not rounded
  bool tiles = false;                         ///< reads a and b from tiles in shared memory
  std::optional<AtomLayout> layouts[3] = {};  ///< of a, b and c, if claimed
  auto fields() const {
    return std::tie(id, m, n, k, a, b, accumulator, a_lanes, b_lanes, c_lanes, subgroup, flushes,
                    reduces, truncates, tiles, layouts);
  }
};

/// A sum of products of neighbouring lanes within a thread (DOT; tn_matrix_atom).
struct DotAtom {
  DType a = DType::kVoid, b = DType::kVoid, accumulator = DType::kVoid;
  int k = 0;             ///< neighbours
  bool flushes = false;  ///< subnormal operands and results may become zero
  auto fields() const { return std::tie(a, b, accumulator, k, flushes); }
};

/// How a device runs kernels, which templates and costs depend on.
enum class DeviceKind : uint8_t {
  kScalar,  ///< one thread a workgroup, one element at a time
  kSimd,    ///< one thread a workgroup, with vector registers
  kSpmd,    ///< threads of a workgroup are lanes of the host's vector registers, as ispc has them
  kGpu,     ///< workgroups of threads
};

struct Capabilities {
  bool compute = true, async = false, deterministic = true, symbolic = true;
  bool strict = true;
  bool software = false;  ///< threads of a workgroup are lanes of the host's processor
  uint32_t numerics = 0;  ///< Numerics
  int index_bits = 64;
  std::array<uint64_t, 8> native_ops{};
  std::array<DTypeCaps, 32> dtypes{};
  // 0: no limit
  std::array<uint32_t, 3> max_workgroup{1, 1, 1};
  std::array<uint32_t, 3> max_grid{0, 0, 0};
#define TN_LIMIT(type, name, unless_told) type name = unless_told;
#define TN_SIZE(type, name, unless_told) type name = unless_told;
#include "core/ir/limits.def"
  uint32_t alignment = 0;       ///< alignment of bound buffers in bytes; 0: the element size
  uint32_t read_alignment = 0;  ///< the same of buffers that are only read
  int storage_bytes = 1;  ///< of the narrowest element in memory; 4: narrower dtypes are packed
  std::vector<MatrixAtom> atoms;
  std::vector<DotAtom> dots;
  std::optional<Rates> rates;  ///< only for budgets, so not in fields()
  auto fields() const {
    return std::tie(
#define TN_LIMIT(type, name, unless_told) name,
#define TN_SIZE(type, name, unless_told) name,
#include "core/ir/limits.def"
        compute, async, deterministic, symbolic, strict, software, numerics, index_bits, native_ops,
        dtypes, max_workgroup, max_grid, alignment, read_alignment, storage_bytes, atoms, dots);
  }

  const DTypeCaps& of(DType dtype) const { return dtypes[static_cast<size_t>(dtype)]; }
  bool has(Op op) const {
    const auto code = static_cast<uint32_t>(op);
    return code < 512 && (native_ops[code >> 6] >> (code & 63) & 1);
  }
  DeviceKind kind() const {
    if (max_workgroup_threads > 1) return software ? DeviceKind::kSpmd : DeviceKind::kGpu;
    return vector_bytes > 1 && has(Op::BROADCAST) ? DeviceKind::kSimd : DeviceKind::kScalar;
  }
  bool has_threads() const { return max_workgroup_threads > 1; }
  /// Whether the core emulates 64-bit integers by two 32-bit words.
  bool splits_wide() const {
    const auto all = [&](DType x, DType y) {
      return of(x).storage && of(x).arithmetic && of(y).storage && of(y).arithmetic;
    };
    return compute && !all(DType::kI64, DType::kU64) && all(DType::kI32, DType::kU32);
  }
  /// Dtypes that graphs may store and compute with.
  bool stores(DType dtype) const { return of(dtype).storage || (is_wide(dtype) && splits_wide()); }
  bool computes(DType dtype) const {
    return of(dtype).arithmetic || (is_wide(dtype) && splits_wide());
  }
  /// Whether the device has asynchronous copies to shared memory.
  bool copies_async() const {
    return has(Op::ASYNC_COPY) && has(Op::ASYNC_COMMIT) && has(Op::ASYNC_WAIT);
  }
  /// Bytes of an element in kernel allocations, where nothing is packed.
  int64_t tile_bytes(DType dtype) const {
    return std::max<int64_t>(static_cast<int64_t>(dtype_size(dtype)), storage_bytes);
  }
  /// Whether the deviations of the atom are within what the device declares or the author allows,
  /// so that kernels may use it.
  bool keeps_promises(const MatrixAtom& atom, Precision allowed) const;
  /// The same for a dot product, which may flush unless exact products are required (docs/ir.md).
  bool keeps_promises(const DotAtom& atom, Precision allowed) const;
  uint64_t hash() const;
};

/// Shared, immutable capabilities: owns a value, or aliases a part of a shared object.
class CapabilitiesRef {
 public:
  CapabilitiesRef(Capabilities capabilities)  // NOLINT
      : shared_(std::make_shared<const Capabilities>(std::move(capabilities))) {}
  CapabilitiesRef(std::shared_ptr<const Capabilities> shared)  // NOLINT
      : shared_(std::move(shared)) {}
  operator const Capabilities&() const { return *shared_; }  // NOLINT
  const Capabilities& operator*() const { return *shared_; }
  const Capabilities* operator->() const { return shared_.get(); }

 private:
  std::shared_ptr<const Capabilities> shared_;
};

/// All ops and dtypes, workgroups of one thread, no other limits: to print stages without a device.
Capabilities generic_capabilities();

}  // namespace tenon
