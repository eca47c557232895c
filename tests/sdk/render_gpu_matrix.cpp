// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every matrix atom of CUDA and HIP against a plain product: operands and result in either order,
// from global and from shared memory, with rows that are aligned and rows that are not. What a unit
// does otherwise than its accumulator's dtype is what its atoms say.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/program/verify.hpp"
#include "sdk/render/c_printer.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/render/hip_dialect.hpp"
#include "tests/sdk/gpu_kernels.hpp"
#include "tests/sdk/matrix_tile.hpp"

using namespace tenon::sdk;

namespace {

/// What the kernel makes of the elements.
Bytes product(const GpuKernels& kernels, size_t kernel, const MatrixTile& t,
              const MatrixTile::Element& element) {
  Bytes bytes[] = {t.stored(0, element), t.stored(1, element),
                   Bytes(size_t{t.count(2)} * dtype_bytes(t.dtype(2)))};
  kernels.run(kernel, {1, 1, 1}, {{&bytes[0]}, {&bytes[1]}, {&bytes[2]}});
  return bytes[2];
}

void check(const GpuKernels& kernels, size_t kernel, const MatrixTile& t, double error) {
  INFO(t.text());
  const auto element = [&](uint32_t role, uint32_t row, uint32_t column) {
    return t.small(role, row, column);
  };
  CHECK(t.differences(product(kernels, kernel, t, element), error) == 0);
}

void check_all(const Dialect& dialect, std::span<const tn_matrix_atom> atoms,
               const std::string& architecture) {
  INFO(architecture);
  std::vector<MatrixTile> tiles;
  for (const tn_matrix_atom& atom : atoms) {
    for (uint32_t bits = 0; bits < 8; ++bits) {
      for (const bool is_shared : {false, true}) {
        for (const uint32_t pad : {16u, 1u}) {
          tiles.push_back(
              {atom, {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}, is_shared, pad});
        }
      }
    }
  }
  GpuKernels kernels(dialect, architecture);
  for (const MatrixTile& tile : tiles) {
    const Program program = tile_program(tile);
    REQUIRE(verify_program(program.get(), program.size()) == "");
    kernels.add(program);
  }
  kernels.build();
  // Terms are multiples of 1/16, and sums of them exact, but for units that err even so.
  const double error = architecture.starts_with("gfx11") ? 1e-3 : 0;
  for (size_t k = 0; k < tiles.size(); ++k) check(kernels, k, tiles[k], error);
}

}  // namespace

TEST_CASE("matrix atoms of CUDA") {
  std::vector<tn_matrix_atom> atoms(cuda_atoms(90).begin(), cuda_atoms(90).end());
  atoms.insert(atoms.end(), cuda_atoms(75).begin(), cuda_atoms(75).end());
  check_all(cuda_dialect(), atoms, "");
}

TEST_CASE("matrix atoms of HIP") {
  for (const std::string architecture : {"gfx90a", "gfx942", "gfx1100"}) {
    check_all(hip_dialect(), hip_atoms(architecture), architecture);
  }
}

TEST_CASE("atoms say what they do otherwise than their accumulator") {
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
  CHECK(numerics(cuda_atoms(80), TN_DTYPE_F64) == 0);
  CHECK(numerics(cuda_atoms(80), TN_DTYPE_I8) == 0);
  CHECK(numerics(cuda_atoms(89), TN_DTYPE_F8E4M3) == ~0u);  // 13 bits: there is none
  CHECK(numerics(cuda_atoms(90), TN_DTYPE_F8E4M3) == TN_ATOM_TRUNCATES);
  for (const uint32_t dtype : {TN_DTYPE_F16, TN_DTYPE_BF16}) {
    CHECK(numerics(hip_atoms("gfx90a:sramecc+:xnack-"), dtype) == TN_ATOM_FLUSHES_SUBNORMALS);
    CHECK(numerics(hip_atoms("gfx942"), dtype) == TN_ATOM_TRUNCATES);
  }
  CHECK(numerics(hip_atoms("gfx1100"), TN_DTYPE_F16) == TN_ATOM_TRUNCATES);
  CHECK(numerics(hip_atoms("gfx1100"), TN_DTYPE_BF16) ==
        (TN_ATOM_TRUNCATES | TN_ATOM_FLUSHES_SUBNORMALS));
  for (const uint32_t dtype : {TN_DTYPE_F32, TN_DTYPE_F64, TN_DTYPE_I8}) {
    CHECK(numerics(hip_atoms("gfx90a"), dtype) == 0);
    CHECK(numerics(hip_atoms("gfx942"), dtype) == 0);
  }
  CHECK(hip_atoms("gfx908").empty());
  CHECK(hip_atoms("gfx1200").empty());
}

namespace {

/// Two products in one sum.
struct Two {
  double a[2], b[2];
  double sum() const { return a[0] * b[0] + a[1] * b[1]; }
};

void check_numerics(const Dialect& dialect, std::span<const tn_matrix_atom> atoms,
                    const std::string& architecture) {
  GpuKernels kernels(dialect, architecture);
  std::vector<MatrixTile> tiles;
  for (const tn_matrix_atom& atom : atoms) {
    if (!is_float(static_cast<uint8_t>(atom.a_dtype))) continue;
    tiles.push_back({atom, {}, false, 0});
    kernels.add(tile_program(tiles.back()));
  }
  kernels.build();
  for (size_t k = 0; k < tiles.size(); ++k) {
    const MatrixTile& t = tiles[k];
    INFO(architecture << " " << t.text());
    const auto answer = [&](const Two& two) {
      const auto element = [&](uint32_t role, uint32_t row, uint32_t column) {
        const uint32_t at = role == 0 ? column : row, other = role == 0 ? row : column;
        return other || at > 1 ? 0 : role == 0 ? two.a[at] : two.b[at];
      };
      return t.result(product(kernels, k, t, element), 0, 0);
    };
    // The least number of the dtype above zero.
    const double least = to_double(1, t.dtype(0));
    const Two subnormal = {{least, 0}, {64, 0}};
    const bool is_flushed = (t.atom.numerics & TN_ATOM_FLUSHES_SUBNORMALS) != 0;
    const bool is_kept = !is_flushed && !(t.atom.numerics & TN_ATOM_REDUCED_OPERANDS);
    CHECK(answer(subnormal) == (is_kept ? subnormal.sum() : 0));
    // Beside 2^12, 7/8 of a unit in the last place more, and 1/64 of one less, as it is below.
    const int digits = t.dtype(2) == TN_DTYPE_F64 ? 53 : 24;
    const Two more = {{64, 1.75 * 0x1p-6}, {64, std::ldexp(1., 12 - digits + 6)}};
    const Two less = {{64, -0x1p-9}, {64, std::ldexp(1., 12 - digits + 3)}};
    const double unit = std::ldexp(1., 13 - digits);
    const double up = answer(more) - 4096, down = answer(less) - 4096;
    const bool is_rounded = up == unit && down == 0;
    CHECK(is_rounded == !(t.atom.numerics & TN_ATOM_TRUNCATES));
    CHECK(std::abs(up - 0.875 * unit) < unit);
    CHECK(std::abs(down) <= unit / 2);
  }
}

}  // namespace

TEST_CASE("units that cut sums or flush subnormals are those whose atoms say so") {
  check_numerics(cuda_dialect(), cuda_atoms(90), "");
  for (const std::string architecture : {"gfx90a", "gfx942", "gfx1100"}) {
    check_numerics(hip_dialect(), hip_atoms(architecture), architecture);
  }
}

TEST_CASE("fragments are loaded by one instruction where rows are aligned, else by elements") {
  const auto source = [](bool is_shared, uint32_t pad, bool is_transposed) {
    const MatrixTile tile{cuda_atoms(80)[0], {is_transposed, is_transposed, false}, is_shared, pad};
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
  // Of four bytes: as they lie, and not turned.
  const auto bytes = [](bool is_transposed) {
    const MatrixTile tile{cuda_atoms(80)[4], {false, is_transposed, false}, true, 16};
    return print_source(tile_program(tile).view(), cuda_dialect());
  };
  CHECK(has(bytes(true), "tn_ldmatrix_x4(v"));
  CHECK(has(bytes(true), "tn_ldmatrix_x2(v"));
  CHECK(!has(bytes(false), "tn_ldmatrix_x2"));
}
