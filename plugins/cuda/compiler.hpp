// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVRTC, opened at run time: source to cubin for a real architecture, or to PTX for people.
#pragma once

#include <string>
#include <vector>

#include "plugins/cuda/targets.hpp"
#include "sdk/stream/compiler.hpp"
#include "sdk/stream/executable.hpp"

namespace tenon::cuda {

class Compiler {
 public:
  /// Throws TN_ERROR_NOT_FOUND with the reason.
  Compiler();
  /// Whether this NVRTC knows the architecture.
  bool knows(const Architecture& architecture) const;
  /// Fills binary, registers and spills.
  void compile(sdk::StreamCode& code) const;
  std::string ptx(const sdk::StreamCode& code) const;
  const std::string& version() const { return nvrtc_.version(); }

 private:
  sdk::RuntimeCompiler nvrtc_;
  std::vector<int> capabilities_;
};

}  // namespace tenon::cuda
