// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every matrix atom of CUDA and HIP against a plain product: operands and result in either order,
// from global and from shared memory, with rows that are aligned and rows that are not.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/program/verify.hpp"
#include "sdk/render/c_printer.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/render/hip_dialect.hpp"
#include "sdk/support/failure.hpp"
#include "tests/sdk/gpu_kernels.hpp"
#include "tests/sdk/vendor_compilers.hpp"

using namespace tenon::sdk;

namespace {

constexpr uint32_t kSteps = 2;  ///< of the loop over k

struct Tile {
  tn_matrix_atom atom;
  bool is_transposed[3];
  bool is_shared;
  uint32_t pad;  ///< elements that a row of memory has more than it needs

  uint32_t rows(uint32_t role) const { return role == 1 ? atom.k * kSteps : atom.m; }
  uint32_t columns(uint32_t role) const { return role == 0 ? atom.k * kSteps : atom.n; }
  uint32_t stride(uint32_t role) const {
    return (is_transposed[role] ? rows(role) : columns(role)) + pad;
  }
  uint32_t count(uint32_t role) const {
    return (is_transposed[role] ? columns(role) : rows(role)) * stride(role);
  }
  uint32_t at(uint32_t role, uint32_t row, uint32_t column) const {
    return is_transposed[role] ? column * stride(role) + row : row * stride(role) + column;
  }
  tn_dtype dtype(uint32_t role) const {
    return static_cast<tn_dtype>(role < 2 ? atom.a_dtype : atom.accumulator_dtype);
  }
  std::string text() const {
    return fmt::format("atom {} {}x{}x{} {} transposed {}{}{} shared {} pad {}", atom.id, atom.m,
                       atom.n, atom.k, dtype_text(dtype(0)), is_transposed[0], is_transposed[1],
                       is_transposed[2], is_shared, pad);
  }
};

Program tile_program(const Tile& t) {
  ProgramBuilder b("tile");
  b.workgroup(t.atom.subgroup, 1, 1);
  b.subgroup(t.atom.subgroup);
  const auto integer = [&](uint64_t value) { return b.constant(TN_DTYPE_I32, value); };
  ProgramBuilder::Value memory[] = {b.buffer("a", t.dtype(0), TN_ACCESS_READ, 0, 16),
                                    b.buffer("b", t.dtype(1), TN_ACCESS_READ, 0, 16),
                                    b.buffer("c", t.dtype(2), TN_ACCESS_WRITE, 0, 16)};
  const auto zero = integer(0), lanes = integer(t.atom.subgroup), one = integer(1);
  for (uint32_t role = 0; role < 2 && t.is_shared; ++role) {
    const auto shared =
        b.allocate(fmt::format("s{}", role), t.dtype(role), TN_SPACE_SHARED, t.count(role), 16);
    const auto end = integer(t.count(role));
    const auto at = b.begin_loop(b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32), end, lanes);
    const auto value = b.op(TN_OP_TAKE, t.dtype(role), 1, {memory[role], at});
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {shared, at, value});
    b.end();
    memory[role] = shared;
  }
  if (t.is_shared) b.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
  const auto c_lanes = static_cast<uint16_t>(t.atom.c_lanes);
  const auto sum = b.constant(t.dtype(2), 0, c_lanes);
  const auto step = b.begin_loop(zero, integer(kSteps), one, {&sum, 1});
  const uint32_t lane_count[] = {t.atom.a_lanes, t.atom.b_lanes};
  ProgramBuilder::Value fragment[2];
  for (uint32_t role = 0; role < 2; ++role) {
    const bool is_along = (role == 0) != t.is_transposed[role];  // k runs along the row
    const auto width = integer(is_along ? t.atom.k : t.atom.k * t.stride(role));
    const auto at = b.op(TN_OP_MUL, TN_DTYPE_I32, 1, {step, width});
    const uint64_t imm =
        t.atom.id | uint64_t{role} << 32 | (t.is_transposed[role] ? TN_MATRIX_TRANSPOSED : 0);
    fragment[role] = b.op(TN_OP_MATRIX_LOAD, t.dtype(role), static_cast<uint16_t>(lane_count[role]),
                          {memory[role], at, integer(t.stride(role))}, imm);
  }
  const auto next = b.op(TN_OP_MATRIX_MULTIPLY, t.dtype(2), c_lanes,
                         {fragment[0], fragment[1], step + 1}, t.atom.id);
  b.end({&next, 1});
  b.op(TN_OP_MATRIX_STORE, TN_DTYPE_VOID, 0, {memory[2], zero, integer(t.stride(2)), step + 1},
       t.atom.id | TN_MATRIX_C | (t.is_transposed[2] ? TN_MATRIX_TRANSPOSED : 0));
  return b.finish();
}

/// Small numbers that all the dtypes have.
double element(uint32_t role, uint32_t row, uint32_t column) {
  return static_cast<double>((row * 7 + column * 3 + role * 5) % 13) * 0.25 - 1.5;
}

std::vector<std::byte> stored(const Tile& t, uint32_t role) {
  const uint32_t size = dtype_bytes(t.dtype(role));
  std::vector<std::byte> out(size_t{t.count(role)} * size);
  for (uint32_t row = 0; row < t.rows(role); ++row) {
    for (uint32_t column = 0; column < t.columns(role); ++column) {
      const uint64_t bits = from_double(element(role, row, column), t.dtype(role));
      std::memcpy(&out[size_t{t.at(role, row, column)} * size], &bits, size);
    }
  }
  return out;
}

void check(const GpuKernels& kernels, size_t kernel, const Tile& t) {
  INFO(t.text());
  std::vector<std::byte> bytes[] = {stored(t, 0), stored(t, 1),
                                    std::vector<std::byte>(t.count(2) * sizeof(float))};
  kernels.run(kernel, {1, 1, 1}, {{&bytes[0]}, {&bytes[1]}, {&bytes[2]}});
  const auto got = values_of<float>(bytes[2]);
  bool is_same = true;  // exact: the sums are short and their terms multiples of 1/16
  for (uint32_t row = 0; row < t.atom.m; ++row) {
    for (uint32_t column = 0; column < t.atom.n; ++column) {
      double sum = 0;
      for (uint32_t k = 0; k < t.atom.k * kSteps; ++k) {
        sum += element(0, row, k) * element(1, k, column);
      }
      is_same = is_same && got[t.at(2, row, column)] == sum;
    }
  }
  CHECK(is_same);
}

std::vector<Tile> tiles_of(std::span<const tn_matrix_atom> atoms) {
  std::vector<Tile> tiles;
  for (const tn_matrix_atom& atom : atoms) {
    for (uint32_t bits = 0; bits < 8; ++bits) {
      for (const bool is_shared : {false, true}) {
        for (const uint32_t pad : {8u, 1u}) {
          tiles.push_back(
              {atom, {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}, is_shared, pad});
        }
      }
    }
  }
  return tiles;
}

void check_all(const Dialect& dialect, std::span<const tn_matrix_atom> atoms) {
  const std::vector<Tile> tiles = tiles_of(atoms);
  GpuKernels kernels(dialect);
  for (const Tile& tile : tiles) {
    const Program program = tile_program(tile);
    REQUIRE(verify_program(program.get(), program.size()) == "");
    kernels.add(program);
  }
  kernels.build();
  for (size_t k = 0; k < tiles.size(); ++k) check(kernels, k, tiles[k]);
}

}  // namespace

TEST_CASE("matrix atoms of CUDA") {
  std::vector<tn_matrix_atom> atoms(cuda_atoms(80).begin(), cuda_atoms(80).end());
  atoms.insert(atoms.end(), cuda_atoms(75).begin(), cuda_atoms(75).end());
  check_all(cuda_dialect(), atoms);
}

TEST_CASE("matrix atoms of HIP") { check_all(hip_dialect(), hip_atoms("gfx90a")); }

TEST_CASE("atoms say what they do otherwise than f32") {
  const auto numerics = [](std::span<const tn_matrix_atom> atoms, uint32_t dtype) {
    for (const tn_matrix_atom& atom : atoms) {
      if (atom.a_dtype == dtype) return atom.numerics;
    }
    return ~0u;
  };
  for (const int capability : {75, 80, 90}) {
    CHECK(numerics(cuda_atoms(capability), TN_DTYPE_F16) == TN_ATOM_TRUNCATES);
  }
  CHECK(numerics(cuda_atoms(80), TN_DTYPE_F32) == (TN_ATOM_TRUNCATES | TN_ATOM_REDUCED_OPERANDS));
  for (const uint32_t dtype : {TN_DTYPE_F16, TN_DTYPE_BF16}) {
    CHECK(numerics(hip_atoms("gfx90a"), dtype) == TN_ATOM_FLUSHES_SUBNORMALS);
  }
}

TEST_CASE("fragments are loaded by one instruction where rows are aligned, else by elements") {
  const auto source = [](bool is_shared, uint32_t pad, bool is_transposed) {
    const Tile tile{cuda_atoms(80)[0], {is_transposed, is_transposed, false}, is_shared, pad};
    return print_source(tile_program(tile).view(), cuda_dialect());
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(source(true, 8, false), "tn_ldmatrix_x4(v"));
  CHECK(has(source(true, 8, false), "tn_ldmatrix_x2_trans(v"));
  CHECK(has(source(true, 8, true), "tn_ldmatrix_x4_trans(v"));
  CHECK(has(source(true, 8, true), "tn_ldmatrix_x2(v"));
  CHECK(!has(source(true, 1, false), "ldmatrix"));
  CHECK(!has(source(false, 8, false), "ldmatrix"));
  CHECK(has(source(false, 8, false), "tn_move_4(v"));    // pairs of halves
  CHECK(has(source(false, 8, false), "tn_move_8(p_c"));  // pairs of floats
  CHECK(!has(source(false, 1, false), "tn_move"));
}

namespace {

/// The text of what a vendor's compiler makes of an atom's tile, aligned and not.
std::string compiled(const RuntimeCompiler& compiler, const Dialect& dialect,
                     const tn_matrix_atom& atom, const std::vector<std::string>& options,
                     RuntimeCompiler::Output output) {
  std::string out;
  for (const uint32_t pad : {8u, 1u}) {
    const Tile tile{atom, {false, true, false}, true, pad};
    const Compiled one =
        compiler.compile(print_source(tile_program(tile).view(), dialect), options, output);
    out.append(reinterpret_cast<const char*>(one.bytes.data()), one.bytes.size());
  }
  return out;
}

}  // namespace

TEST_CASE("NVRTC takes every matrix atom") {
  try {
    const RuntimeCompiler nvrtc = open_nvrtc();
    for (const std::string architecture : {"75", "80", "89", "90a"}) {
      const int capability = std::stoi(architecture);
      const std::string target = "compute_" + architecture;
      for (const tn_matrix_atom& atom : cuda_atoms(capability)) {
        INFO(target << " atom " << atom.id);
        const std::string ptx = compiled(nvrtc, cuda_dialect(), atom, cuda_options(target),
                                         RuntimeCompiler::Output::kText);
        CHECK(ptx.find(fmt::format("mma.sync.aligned.m16n8k{}", atom.k)) != std::string::npos);
        CHECK(ptx.find("ldmatrix.sync") != std::string::npos);
        CHECK(!compiled(nvrtc, cuda_dialect(), atom, cuda_options("sm_" + architecture),
                        RuntimeCompiler::Output::kCode)
                   .empty());
      }
    }
  } catch (const Failure& failure) {
    if (failure.code() != TN_ERROR_NOT_FOUND) throw;
    SKIP(failure.what());
  }
}

TEST_CASE("hiprtc takes every matrix atom") {
  try {
    const RuntimeCompiler hiprtc = open_hiprtc();
    for (const tn_matrix_atom& atom : hip_atoms("gfx90a")) {
      INFO("atom " << atom.id);
      CHECK(!compiled(hiprtc, hip_dialect(), atom, hip_options("gfx90a"),
                      RuntimeCompiler::Output::kCode)
                 .empty());
    }
  } catch (const Failure& failure) {
    if (failure.code() != TN_ERROR_NOT_FOUND) throw;
    SKIP(failure.what());
  }
}
