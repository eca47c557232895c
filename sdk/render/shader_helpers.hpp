// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helper functions of shaders, for semantics of ops.def that shading languages leave open.
//
// Each is written once, in WGSL plus 64-bit types (i64, u64, f64), and translated to GLSL word by
// word. They may also call `tn_opaque(u32) -> u32`, an identity function that hides a value from
// compilers which break float semantics.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::sdk {

struct ShaderHelper {
  std::string name;
  std::string text;  ///< the function `name`; calls only earlier helpers
};

/// Add groups of helpers: integers of 32 or 64 bits, conversions, functions of f32, and those only
/// for GLSL, whose text may use GLSL features.
void add_integer_helpers(std::vector<ShaderHelper>& out, const std::string& bits);
void add_cast_helpers(std::vector<ShaderHelper>& out);
void add_math_helpers(std::vector<ShaderHelper>& out);
void add_wide_helpers(std::vector<ShaderHelper>& out);
void add_wide_math_helpers(std::vector<ShaderHelper>& out);

/// All helpers that WGSL supports, in WGSL.
std::span<const ShaderHelper> wgsl_helpers();
/// All helpers, in GLSL.
std::span<const ShaderHelper> glsl_helpers();

/// Whether `text` calls the function.
bool calls(std::string_view text, std::string_view name);
/// The text of the helpers that `text` calls, directly or indirectly.
std::string used_helpers(std::span<const ShaderHelper> helpers, std::string_view text);

/// Translates the text of a helper to GLSL.
std::string glsl_from_wgsl(std::string_view text);

}  // namespace tenon::sdk
