// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compilers take every matrix atom and make its instruction of it, with no device there: the
// vendors' run-time compilers, and clang, which knows architectures that an older hiprtc does not.
// Skips with the reason where a compiler is not installed.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "sdk/render/c_printer.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/render/hip_dialect.hpp"
#include "sdk/support/failure.hpp"
#include "tests/sdk/device_clang.hpp"
#include "tests/sdk/matrix_tile.hpp"
#include "tests/sdk/vendor_compilers.hpp"

using namespace tenon::sdk;

namespace {

/// Sources of an atom's tile, aligned and not.
std::vector<std::string> sources(const Dialect& dialect, const tn_matrix_atom& atom) {
  std::vector<std::string> out;
  for (const uint32_t pad : {16u, 1u}) {
    const MatrixTile tile{atom, {false, true, false}, true, pad};
    out.push_back(print_source(tile_program(tile).view(), dialect));
  }
  return out;
}

/// The text of what a vendor's compiler makes of them.
std::string compiled(const RuntimeCompiler& compiler, const Dialect& dialect,
                     const tn_matrix_atom& atom, const std::vector<std::string>& options,
                     RuntimeCompiler::Output output) {
  std::string out;
  for (const std::string& source : sources(dialect, atom)) {
    const Compiled one = compiler.compile(source, options, output);
    out.append(reinterpret_cast<const char*>(one.bytes.data()), one.bytes.size());
  }
  return out;
}

struct Instruction {
  uint32_t id;
  const char* text;
};
/// By the names of the Instruction Set Architectures.
constexpr Instruction kGfx90a[] = {
    {1, "v_mfma_f32_16x16x16f16"},     {2, "v_mfma_f32_32x32x8f16"},
    {3, "v_mfma_f32_16x16x16bf16_1k"}, {4, "v_mfma_f32_32x32x8bf16_1k"},
    {5, "v_mfma_f32_16x16x4f32"},      {6, "v_mfma_f32_32x32x2f32"},
    {7, "v_mfma_f64_16x16x4f64"},      {8, "v_mfma_i32_16x16x16i8"},
    {9, "v_mfma_i32_32x32x8i8"}};
constexpr Instruction kGfx942[] = {
    {1, "v_mfma_f32_16x16x16_f16"}, {2, "v_mfma_f32_32x32x8_f16"},  {3, "v_mfma_f32_16x16x16_bf16"},
    {4, "v_mfma_f32_32x32x8_bf16"}, {5, "v_mfma_f32_16x16x4_f32"},  {6, "v_mfma_f32_32x32x2_f32"},
    {7, "v_mfma_f64_16x16x4_f64"},  {10, "v_mfma_i32_16x16x32_i8"}, {11, "v_mfma_i32_32x32x16_i8"}};
constexpr Instruction kGfx1100[] = {
    {12, "v_wmma_f32_16x16x16_f16"}, {13, "v_wmma_f32_16x16x16_bf16"}, {14, "neg_lo:[1,1,0]"},
    {15, "v_wmma_i32_16x16x16_iu8"}, {16, "neg_lo:[0,1,0]"},           {17, "neg_lo:[1,0,0]"}};

void check_clang(const std::string& architecture, std::span<const Instruction> instructions) {
  const auto clang = DeviceClang::find(architecture);
  if (!clang) SKIP("no clang for " << architecture);
  const auto atoms = hip_atoms(architecture);
  CHECK(atoms.size() == instructions.size());
  for (const tn_matrix_atom& atom : atoms) {
    const Instruction* row = nullptr;
    for (const Instruction& i : instructions) {
      if (i.id == atom.id) row = &i;
    }
    REQUIRE(row);
    for (const std::string& source : sources(hip_dialect(), atom)) {
      const std::string assembly = clang->assembly(source);
      INFO(architecture << " atom " << atom.id << "\n" << assembly.substr(0, 2000));
      CHECK(assembly.find(row->text) != std::string::npos);
    }
  }
}

}  // namespace

TEST_CASE("NVRTC takes every matrix atom") {
  try {
    const RuntimeCompiler nvrtc = open_nvrtc();
    for (const std::string architecture : {"75", "80", "89", "90a", "120"}) {
      const int capability = std::stoi(architecture);
      const std::string target = "compute_" + architecture;
      for (const tn_matrix_atom& atom : cuda_atoms(capability)) {
        INFO(target << " atom " << atom.id);
        const std::string ptx = compiled(nvrtc, cuda_dialect(), atom, cuda_options(target),
                                         RuntimeCompiler::Output::kText);
        CHECK(ptx.find(fmt::format("mma.sync.aligned.m{}n8k{}", atom.m, atom.k)) !=
              std::string::npos);
        const bool is_double = atom.a_dtype == TN_DTYPE_F64;  // has no ldmatrix
        CHECK((ptx.find("ldmatrix.sync") == std::string::npos) == is_double);
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

TEST_CASE("clang makes the instructions of gfx90a") { check_clang("gfx90a", kGfx90a); }
TEST_CASE("clang makes the instructions of gfx942") { check_clang("gfx942", kGfx942); }
TEST_CASE("clang makes the instructions of gfx1100") { check_clang("gfx1100", kGfx1100); }
