// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compile targets: processors by name and features. Includes no LLVM headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::cpu {

struct TargetSpec {
  std::string triple, cpu, features;
  std::string name;  ///< "x86_64/znver5+1a2b3c4d": the processor and a hash of the features
  uint32_t vector_bytes = 16, vector_registers = 16;
  bool fuse_multiply_add = false;
  bool avx512 = false;     ///< with F, BW, DQ and VL
  bool dots_bf16 = false;  ///< pairs of bf16 to f32
  bool dots_i8 = false;    ///< fours of u8 by i8 to i32
};

/// The host processor with its features.
const TargetSpec& host_target();
/// "host", or a processor that LLVM knows for the host's architecture, with or without "x86_64/"
/// before it. Empty if the name is unknown.
std::optional<TargetSpec> find_target(std::string_view name);
/// LLVM makes tables with destructors when it first compiles something. Made before a device is
/// open they outlive its closing, when the process ends while another thread compiles
/// (docs/decisions/0005).
void make_static_objects();
/// As "llvm 19.1.7".
std::string driver_name();

}  // namespace tenon::cpu
