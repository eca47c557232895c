// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clang as a compiler of HIP sources for AMD's devices, without ROCm's headers and libraries.
#pragma once

#include <optional>
#include <string>

namespace tenon::sdk {

class DeviceClang {
 public:
  /// One that knows the architecture.
  static std::optional<DeviceClang> find(const std::string& architecture);
  /// Throws std::runtime_error with the compiler's words.
  std::string assembly(const std::string& source) const;

 private:
  DeviceClang(std::string program, std::string architecture)
      : program_(std::move(program)), architecture_(std::move(architecture)) {}
  std::string program_, architecture_;
};

}  // namespace tenon::sdk
