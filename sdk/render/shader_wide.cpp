// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 64-bit integers and floats.
#include "sdk/render/shader_helpers.hpp"

namespace tenon::sdk {

void add_wide_helpers(std::vector<ShaderHelper>& out) { add_integer_helpers(out, "64"); }

}  // namespace tenon::sdk
