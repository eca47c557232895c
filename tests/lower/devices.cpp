// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices with workgroups, each with what makes its kind different.
#include "tests/lower/harness.hpp"

namespace tenon::test {
namespace {

void claim(Capabilities& c, std::initializer_list<Op> ops) {
  for (const Op op : ops) {
    const auto code = static_cast<uint32_t>(op);
    c.native_ops[code >> 6] |= uint64_t{1} << (code & 63);
  }
}

void short_vectors(Capabilities& c, int bytes) {
  for (const DType dtype : all_dtypes())
    c.dtypes[static_cast<size_t>(dtype)].vector_lanes =
        std::max(1, bytes / static_cast<int>(dtype_size(dtype)));
}

Capabilities workgroups(uint32_t threads, uint32_t shared) {
  Capabilities c = generic_capabilities();
  c.max_workgroup = {threads, threads, 64};
  c.max_workgroup_threads = threads;
  c.max_grid = {(1u << 31) - 1, 65535, 65535};
  c.max_shared_bytes = shared;
  c.alignment = c.read_alignment = 256;
  return c;
}

/// Of 16-bit floats, with sums in f32.
MatrixAtom atom(uint32_t id, int m, int n, int k, DType dtype, int a, int b, int c, int threads) {
  MatrixAtom out;
  out.id = id;
  out.m = m, out.n = n, out.k = k;
  out.a = out.b = dtype, out.accumulator = DType::kF32;
  out.a_lanes = a, out.b_lanes = b, out.c_lanes = c;
  out.subgroup = threads;
  return out;
}

}  // namespace

Capabilities warps_like() {
  Capabilities c = workgroups(1024, 48 << 10);
  short_vectors(c, 16);
  claim(c,
        {Op::SUBGROUP_SHUFFLE, Op::SUBGROUP_REDUCE, Op::SUBGROUP_BROADCAST, Op::MATRIX_LOAD,
         Op::MATRIX_MULTIPLY, Op::MATRIX_STORE, Op::ASYNC_COPY, Op::ASYNC_COMMIT, Op::ASYNC_WAIT});
  c.subgroup_min = c.subgroup_max = 32;
  c.compute_units = 4;
  c.vector_registers = 255;
  c.atoms = {atom(1, 16, 8, 16, DType::kF16, 8, 4, 4, 32),
             atom(2, 16, 8, 16, DType::kBF16, 8, 4, 4, 32)};
  // As mma.m16n8k16 has them; those of bf16 are not told.
  const FragmentDigits eight{.threads = 8, .thread_step = 4}, pairs{2, 4};
  const FragmentDigits sixteen{.threads = 8, .more = 2, .thread_step = 4, .more_step = 2};
  const FragmentDigits two_pairs{2, 4, 2, 1, 1, 4}, two_pairs_down{2, 4, 2, 1, 1, 2};
  c.atoms[0].layouts[0] = {sixteen, two_pairs};
  c.atoms[0].layouts[1] = {two_pairs_down, eight};
  c.atoms[0].layouts[2] = {sixteen, pairs};
  return c;
}

Capabilities groups_like() {
  Capabilities c = warps_like();
  c.max_shared_bytes = 227 << 10;
  // Two subgroups together; for the interpreter its fragments hold elements as others do.
  c.atoms.push_back(atom(3, 32, 16, 16, DType::kF16, 8, 4, 8, 64));
  c.atoms.back().tiles = true;
  return c;
}

Capabilities waves_like() {
  Capabilities c = workgroups(1024, 64 << 10);
  short_vectors(c, 16);
  claim(c, {Op::SUBGROUP_SHUFFLE, Op::MATRIX_LOAD, Op::MATRIX_MULTIPLY, Op::MATRIX_STORE});
  c.subgroup_min = c.subgroup_max = 64;
  c.compute_units = 4;
  c.atoms = {atom(7, 16, 16, 16, DType::kF16, 4, 4, 4, 64)};
  return c;
}

Capabilities software_like() {
  Capabilities c = workgroups(1024, 32 << 10);
  short_vectors(c, 16);
  claim(c, {Op::SUBGROUP_SHUFFLE});
  c.subgroup_min = c.subgroup_max = 8;
  c.compute_units = 2;
  c.software = true;
  return c;
}

Capabilities web_like() {
  Capabilities c = workgroups(256, 16 << 10);
  c.native_ops = {};
  claim(c, {Op::BARRIER, Op::ATOMIC});
  c.max_grid = {65535, 65535, 65535};
  c.index_bits = 32;
  c.max_bindings = 8;
  c.storage_bytes = 4;
  c.compute_units = 8;
  return c;
}

}  // namespace tenon::test
