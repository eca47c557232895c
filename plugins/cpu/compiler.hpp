// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a program to an object file, or to text. Thread-safe. Includes no LLVM headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plugins/cpu/target.hpp"
#include "sdk/program/view.hpp"

namespace tenon::cpu {

struct Object {
  std::vector<std::byte> bytes;  ///< relocatable ELF with the entry `tenon_entry`
  uint64_t scratch_bytes = 0;    ///< of each thread, aligned to 64
};

/// Throws sdk::Failure.
Object compile_object(const sdk::ProgramView& program, const TargetSpec& target);
/// LLVM IR as emitted.
std::string compile_ir(const sdk::ProgramView& program, const TargetSpec& target);
std::string compile_assembly(const sdk::ProgramView& program, const TargetSpec& target);

}  // namespace tenon::cpu
