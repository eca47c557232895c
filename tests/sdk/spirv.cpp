// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPIR-V without a device: targets by name, words, texts, saved forms, limits.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sdk/render/glsl_matrix.hpp"
#include "sdk/spirv/compiler.hpp"
#include "sdk/spirv/executable.hpp"
#include "tests/sdk/matrix_tile.hpp"
#include "tests/sdk/null_device.hpp"
#include "tests/sdk/samples.hpp"

namespace tenon::sdk {
namespace {

constexpr uint32_t kMagic = 0x07230203, kVersion = 0x00010500;

int32_t load_status(std::span<const std::byte> bytes, const SpirvTarget& target,
                    std::string_view identity) {
  return guarded(nullptr, [&] { load_spirv(bytes, target, identity); });
}

/// What spirv-val has against a module.
std::string faults(const std::vector<uint32_t>& words) {
  std::string folder = (std::filesystem::temp_directory_path() / "tenon-spirv-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()));
  std::ofstream(folder + "/k.spv", std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()),
             static_cast<std::streamsize>(words.size() * sizeof words[0]));
  const std::string command =
      fmt::format("spirv-val --target-env vulkan1.2 {0}/k.spv > {0}/log 2>&1", folder);
  const int status = std::system(command.c_str());
  std::stringstream log;
  log << std::ifstream(folder + "/log").rdbuf();
  std::filesystem::remove_all(folder);
  return status == 0 ? "" : log.str();
}

struct CachingExecutable : SpirvExecutable {
  using SpirvExecutable::SpirvExecutable;
  std::vector<std::byte> driver_data() const override { return std::vector(3, std::byte{7}); }
};

}  // namespace

TEST_CASE("targets of SPIR-V by name") {
  const SpirvTarget least = find_spirv_target("spirv1.5").value();
  CHECK(least.name() == "spirv1.5");
  SpirvTarget most = find_spirv_target("vulkan1.2").value();
  CHECK(most.name() == "spirv1.5+i8+i16+i64+f64+specials+denormals+rte");
  most.subgroup = 8;
  most.is_software = true;
  CHECK(most.name() == "spirv1.5+i8+i16+i64+f64+specials+denormals+rte+software+subgroup8");
  CHECK_FALSE(find_spirv_target("spirv"));
  CHECK(named_spirv_properties("spirv") == nullptr);
  CHECK(spirv_properties(least)->get().storage_bytes == 4);
  CHECK(spirv_properties(most)->get().storage_bytes == 1);
  CHECK(spirv_properties(most)->get().subgroup_max == 8);
  CHECK(spirv_properties(least)->get().numerics != 0);
  CHECK(spirv_properties(most)->get().numerics == 0);
  const auto stores = [](const SpirvTarget& target, uint32_t dtype) {
    const auto table = spirv_properties(target);
    const tn_properties& p = table->get();
    return std::any_of(p.dtypes, p.dtypes + p.dtype_count,
                       [&](const tn_dtype_caps& row) { return row.dtype == dtype; });
  };
  for (const uint32_t wide : {TN_DTYPE_F64, TN_DTYPE_I64, TN_DTYPE_U64}) {
    CHECK(stores(most, wide));
    CHECK_FALSE(stores(least, wide));
  }
  CHECK(stores(least, TN_DTYPE_F16));
  CHECK(named_spirv_properties("vulkan1.2")->get().memory_space_count == 1);
}

TEST_CASE("a program becomes words and texts, and comes back from its saved form") {
  const SpirvTarget target = find_spirv_target("vulkan1.2").value();
  const SpirvCode code = compile_spirv(parsed(samples::kSoftmax).view(), target);
  REQUIRE(code.words.size() > 5);
  CHECK(code.words[0] == kMagic);
  CHECK(code.words[1] == kVersion);
  const CachingExecutable made(code, nullptr, "mine 1");
  CHECK(made.text(TN_TEXT_SOURCE).find("#version 450") == 0);
  CHECK(made.text(TN_TEXT_ASSEMBLY).find("OpEntryPoint GLCompute") != std::string::npos);
  std::vector<std::byte> bytes = made.save();
  const SpirvCode loaded = load_spirv(bytes, target, "mine 1");
  CHECK(loaded.words == code.words);
  CHECK(loaded.driver_data == std::vector(3, std::byte{7}));
  CHECK(loaded.program.size() == code.program.size());
  CHECK(load_status(bytes, target, "mine 2") == TN_ERROR_INCOMPATIBLE);
  CHECK(load_status(bytes, SpirvTarget(), "mine 1") == TN_ERROR_INCOMPATIBLE);
  bytes[bytes.size() / 2] ^= std::byte{1};
  CHECK(load_status(bytes, target, "mine 1") == TN_ERROR_INCOMPATIBLE);
}

TEST_CASE("a module asks for its rules of floats in each width") {
  const SpirvTarget target = find_spirv_target("vulkan1.2").value();
  const SpirvCode code = compile_spirv(parsed(samples::kSoftmax).view(), target);
  const std::string text = disassemble(code.words);
  for (const std::string mode : {"DenormPreserve", "SignedZeroInfNanPreserve", "RoundingModeRTE"}) {
    CHECK(text.find(mode + " 32") != std::string::npos);
    CHECK(text.find(mode + " 64") != std::string::npos);
  }
}

TEST_CASE("GLSL that is none fails with the compiler's words") {
  tn_error error = TN_INIT(tn_error);
  CHECK(guarded(&error, [] { compile_glsl("#version 450\nvoid main() { x = 1; }"); }) ==
        TN_ERROR_COMPILE_FAILED);
  CHECK(std::string(error.message).find("undeclared identifier") != std::string::npos);
}

TEST_CASE("limits beyond the properties: push constants, whole subgroups") {
  const Program softmax = parsed(samples::kSoftmax);
  CHECK(exceeds_spirv_limits(softmax.view()).empty());
  CHECK_FALSE(exceeds_spirv_limits(softmax.view(), {.push_constant_bytes = 8}).empty());
  const Program groups = parsed(samples::kSubgroup);  // 64 threads in subgroups of 32
  CHECK(exceeds_spirv_limits(groups.view()).empty());
  CHECK(exceeds_spirv_limits(groups.view(), {.usual_subgroup = 32, .workgroup_subgroups = 1})
            .empty());
  CHECK_FALSE(
      exceeds_spirv_limits(groups.view(), {.usual_subgroup = 8, .workgroup_subgroups = 1}).empty());
  std::string text(samples::kSubgroup);
  text.replace(text.find("workgroup 64 1 1"), 16, "workgroup 16 4 1");
  CHECK_FALSE(exceeds_spirv_limits(parsed(text).view()).empty());
}

TEST_CASE("a matrix atom says its shape and what Vulkan leaves open") {
  const tn_matrix_atom halves =
      glsl_atom(16, 8, 16, TN_DTYPE_F16, TN_DTYPE_F16, TN_DTYPE_F32, 32, true).value();
  CHECK(halves.a_lanes == 8);
  CHECK(halves.b_lanes == 4);
  CHECK(halves.c_lanes == 4);
  CHECK(halves.numerics == TN_ATOM_TRUNCATES);
  const auto numerics = [](tn_dtype dtype, tn_dtype sum, bool keeps) {
    return glsl_atom(16, 16, 16, dtype, dtype, sum, 32, keeps).value().numerics;
  };
  constexpr uint32_t kBoth = TN_ATOM_TRUNCATES | TN_ATOM_FLUSHES_SUBNORMALS;
  CHECK(numerics(TN_DTYPE_F16, TN_DTYPE_F32, false) == kBoth);
  CHECK(numerics(TN_DTYPE_BF16, TN_DTYPE_F32, true) == TN_ATOM_TRUNCATES);
  CHECK(numerics(TN_DTYPE_I8, TN_DTYPE_I32, false) == 0);
  CHECK_FALSE(glsl_atom(16, 16, 16, TN_DTYPE_F16, TN_DTYPE_F16, TN_DTYPE_F16, 32, true));
  CHECK_FALSE(glsl_atom(8, 8, 4, TN_DTYPE_F16, TN_DTYPE_F16, TN_DTYPE_F32, 64, true));
  const SpirvTarget target = find_spirv_target("vulkan1.2+coop").value();
  CHECK(target.name().ends_with("+subgroup32+coop"));
  CHECK(named_spirv_properties("vulkan1.2+coop")->get().matrix_atom_count == 4);
}

TEST_CASE("matrix atoms are valid SPIR-V, from buffers and shared memory, in either order") {
  const SpirvTarget target = find_spirv_target("vulkan1.2+coop").value();
  for (const tn_matrix_atom& atom : target.atoms) {
    for (unsigned bits = 0; bits < 16; ++bits) {
      const MatrixTile tile{
          atom, {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}, (bits & 8) != 0, 16};
      CAPTURE(tile.text());
      const SpirvCode code = compile_spirv(tile_program(tile).view(), target);
      CHECK(code.words[1] == kVersion);
      const std::string found = faults(code.words);
      const bool knows = found.find("not found") == found.npos &&
                         found.find("opcode") == found.npos &&
                         found.find("capability operand: 6022") == found.npos;
      if (!knows) SKIP("spirv-val: " << found);
      CHECK(found == "");
    }
  }
}

TEST_CASE(
    "rows of a matrix that are not aligned, and instructions that are not there, are refused") {
  const SpirvTarget target = find_spirv_target("vulkan1.2+coop").value();
  const MatrixTile tile{target.atoms[0], {}, true, 1};
  const std::string reason = exceeds_spirv_limits(tile_program(tile).view());
  CHECK(reason.find("expected rows that are aligned to 16 bytes") != std::string::npos);
  const MatrixTile aligned{target.atoms[0], {}, true, 8};
  CHECK(exceeds_spirv_limits(tile_program(aligned).view()).empty());
}

}  // namespace tenon::sdk
