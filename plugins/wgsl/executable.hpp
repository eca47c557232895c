// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as WGSL and, where a device is there to run it, as a pipeline.
#pragma once

#include "plugins/wgsl/device.hpp"

namespace tenon::wgsl {

class WgslExecutable : public sdk::Executable {
 public:
  /// `device` may be null. Throws TN_ERROR_COMPILE_FAILED with WebGPU's message.
  WgslExecutable(sdk::Program program, const WgslDevice* device);

  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;

  const sdk::LaunchSignature& signature() const { return signature_; }
  const WgslDevice* device() const { return device_; }
  WGPUBindGroupLayout layout() const { return layout_.get(); }
  WGPUComputePipeline pipeline() const { return pipeline_.get(); }

 private:
  sdk::Program program_;
  sdk::LaunchSignature signature_;
  std::string source_;
  const WgslDevice* device_;
  Ref<WGPUBindGroupLayout> layout_ = none<WGPUBindGroupLayout>();
  Ref<WGPUComputePipeline> pipeline_ = none<WGPUComputePipeline>();
};

}  // namespace tenon::wgsl
