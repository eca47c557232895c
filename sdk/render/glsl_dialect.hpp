// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GLSL 4.50 for Vulkan compute.
#pragma once

#include <string>

#include "sdk/render/shader_dialect.hpp"

namespace tenon::sdk {

/// Float widths that a feature holds for.
struct FloatWidths {
  bool f16 = false, f32 = false, f64 = false;
};

struct GlslOptions {
  ShaderMath math = {};
  /// Execution modes of SPV_KHR_float_controls to ask for: only those that the device has.
  FloatWidths preserves_specials = {};  ///< SignedZeroInfNanPreserve
  FloatWidths preserves_denormals = {};
  FloatWidths rounds_to_even = {};
  /// Asks the driver not to unroll loops: a software driver may compile unrolled loops for seconds.
  bool keeps_loops = false;
};

/// A compute shader with the entry point main. BUFFER param number k, counted among the buffers, is
/// bound at set 0, binding k; SCALARs are push constants as in scalar_layout(). Memory of 8- and
/// 16-bit dtypes needs the 8- and 16-bit storage features (and shaderInt8, shaderInt16 if it is
/// shared), i64, u64 and f64 the features of those names; f64 also needs 64-bit integers.
/// Throws Failure(TN_ERROR_UNSUPPORTED) where GLSL has no words.
std::string print_glsl(const ProgramView& program, const GlslOptions& options = {});

}  // namespace tenon::sdk
