// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the host that generated code may call, by name. Includes no LLVM headers.
#pragma once

#include <span>

namespace tenon::cpu {

struct HostFunction {
  const char* name;
  void* address;
};

std::span<const HostFunction> host_functions();

}  // namespace tenon::cpu
