// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVRTC, opened at run time: compiles source to cubin for a real architecture, or to PTX, for
// people and for devices newer than NVRTC.
#pragma once

#include <string>
#include <vector>

#include "plugins/cuda/targets.hpp"
#include "sdk/stream/backend.hpp"
#include "sdk/stream/compiler.hpp"

namespace tenon::cuda {

class Compiler : public sdk::StreamCompiler {
 public:
  /// Opens the newest NVRTC whose code the driver loads; `driver_version` 0: the newest. Throws
  /// TN_ERROR_NOT_FOUND with the reason.
  explicit Compiler(int driver_version);
  std::optional<sdk::StreamLimits> find_target(std::string_view name) const override;
  void compile(const sdk::ProgramView&, sdk::StreamCode& code) const override;
  /// Returns PTX, as NVRTC does not print machine code.
  std::string disassemble(const sdk::StreamCode& code) const override;
  std::string identity() const override { return "NVRTC " + nvrtc_.version(); }

 private:
  void compile_binary(sdk::StreamCode& code) const;
  /// The newest architecture that NVRTC knows and the target runs, as "compute_90".
  std::string virtual_architecture(const std::string& target) const;

  sdk::RuntimeCompiler nvrtc_;
  std::vector<int> capabilities_;
};

}  // namespace tenon::cuda
