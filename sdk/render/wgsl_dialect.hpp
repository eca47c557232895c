// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WGSL, the language of WebGPU.
#pragma once

#include <string>

#include "sdk/render/shader_dialect.hpp"

namespace tenon::sdk {

struct WgslOptions {
  ShaderMath math = {};
};

/// A compute shader with the entry point Dialect::function_name(). BUFFER param number k, counted
/// among the buffers, is `var<storage, read_write>` at group 0, binding k (one slab may be bound
/// several times, which WebGPU allows only if all are alike); SCALARs are one uniform buffer after
/// the last of them, as in scalar_layout(). Memory is declared in 32-bit words: narrower dtypes
/// only live in variables. Subgroups are naga's, which takes no `enable subgroups;` yet. Throws
/// Failure(TN_ERROR_UNSUPPORTED) for what WGSL has not: types of 64 bits, memory of narrower ones,
/// atomics on floats, barriers of a subgroup.
std::string print_wgsl(const ProgramView& program, const WgslOptions& options = {});

}  // namespace tenon::sdk
