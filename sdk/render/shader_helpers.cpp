// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists helpers, and finds those that a text uses.
#include "sdk/render/shader_helpers.hpp"

#include <algorithm>

namespace tenon::sdk {
namespace {

// There is at least one workgroup, but no compiler uses that.
constexpr std::string_view kGlslOpaque = R"(uint tn_opaque(uint x) {
  return x | (gl_NumWorkGroups.x == 0u ? 1u : 0u);
}
)";

// Mesa (22.3 at least) miscompiles comparisons of a sign-extended integer with a constant.
constexpr std::string_view kGlslExtend = R"(int64_t tn_i64_of_i32(int x) {
  return int64_t(x) | int64_t(tn_opaque(0u));
}
)";

std::vector<ShaderHelper> make_wgsl() {
  std::vector<ShaderHelper> out;
  add_integer_helpers(out, "32");
  add_cast_helpers(out);
  add_math_helpers(out);
  return out;
}

std::vector<ShaderHelper> make_glsl() {
  std::vector<ShaderHelper> out = make_wgsl();
  add_wide_helpers(out);
  for (ShaderHelper& helper : out) helper.text = glsl_from_wgsl(helper.text);
  out.insert(out.begin(), {{"tn_opaque", std::string(kGlslOpaque)},
                           {"tn_i64_of_i32", std::string(kGlslExtend)}});
  return out;
}

}  // namespace

bool calls(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if (text.substr(at + name.size()).starts_with('(')) return true;
  }
  return false;
}

std::span<const ShaderHelper> wgsl_helpers() {
  static const auto& helpers = *new std::vector<ShaderHelper>(make_wgsl());
  return helpers;
}

std::span<const ShaderHelper> glsl_helpers() {
  static const auto& helpers = *new std::vector<ShaderHelper>(make_glsl());
  return helpers;
}

std::string used_helpers(std::span<const ShaderHelper> helpers, std::string_view text) {
  std::string out;
  for (size_t i = helpers.size(); i-- > 0;) {
    if (calls(text, helpers[i].name) || calls(out, helpers[i].name))
      out = helpers[i].text + "\n" + out;
  }
  return out;
}

}  // namespace tenon::sdk
