// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The helper functions of shaders: what ops.def pins and a shading language leaves open.
//
// Each is written once, in WGSL with the 64-bit types that WGSL lacks (i64, u64, f64); GLSL's text
// is made from it word by word. Beyond WGSL they may call `tn_opaque(u32) -> u32`, which gives its
// argument back and which a compiler that breaks rules of floats does not see through.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::sdk {

struct ShaderHelper {
  std::string name;
  std::string text;  ///< the function, called `name`; calls only helpers that stand before it
};

/// In groups: integers of 32 or 64 bits, conversions, functions of f32, and what only GLSL has
/// (whose text may hold GLSL that WGSL has not).
void add_integer_helpers(std::vector<ShaderHelper>& out, const std::string& bits);
void add_cast_helpers(std::vector<ShaderHelper>& out);
void add_math_helpers(std::vector<ShaderHelper>& out);
void add_wide_helpers(std::vector<ShaderHelper>& out);
void add_wide_math_helpers(std::vector<ShaderHelper>& out);

/// All of them, in WGSL's words; without those that need what it has not.
std::span<const ShaderHelper> wgsl_helpers();
/// All of them, in GLSL's words.
std::span<const ShaderHelper> glsl_helpers();

/// Whether `text` calls the function.
bool calls(std::string_view text, std::string_view name);
/// The text of those of `helpers` that `text` calls, and of those that they call.
std::string used_helpers(std::span<const ShaderHelper> helpers, std::string_view text);

/// A helper's text in GLSL.
std::string glsl_from_wgsl(std::string_view text);

}  // namespace tenon::sdk
