// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA backend: the driver API, NVRTC and the CUDA dialect under the sdk's host logic.
#include <mutex>

#include "plugins/cuda/compiler.hpp"
#include "plugins/cuda/driver.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/render/gpu_dialect.hpp"

namespace tenon::cuda {
namespace {

class CudaBackend : public sdk::StreamBackend {
 public:
  static constexpr sdk::BackendInfo kInfo{"cuda", TENON_VERSION, "Apache-2.0 WITH LLVM-exception"};

 protected:
  std::vector<sdk::StreamDeviceFacts> discover() override {
    driver_ = std::make_unique<Driver>();
    return driver_->devices();
  }
  sdk::StreamVendor& vendor() override { return *driver_; }
  const sdk::Dialect& dialect() const override { return sdk::cuda_dialect(); }
  bool has_dynamic_shared(const sdk::ProgramView& program) const override {
    return sdk::has_dynamic_shared(program, dialect());
  }
  std::span<const tn_matrix_atom> atoms(std::string_view target) const override {
    const auto architecture = parse_target(target);
    return architecture ? sdk::cuda_atoms(architecture->capability)
                        : std::span<const tn_matrix_atom>();
  }
  std::optional<sdk::StreamLimits> find_target(std::string_view name) override {
    const auto architecture = parse_target(name);
    if (!architecture || !compiler().knows(*architecture)) return std::nullopt;
    return limits_of(*architecture);
  }
  void compile_source(sdk::StreamCode& code) override { compiler().compile(code); }
  std::string disassemble(const sdk::StreamCode& code) override { return compiler().ptx(code); }
  std::string identity() override { return "cuda " TENON_VERSION " NVRTC " + compiler().version(); }

 private:
  /// Opened at the first use; tried anew where it was not there.
  const Compiler& compiler() {
    const std::lock_guard lock(mutex_);
    if (!compiler_) compiler_ = std::make_unique<Compiler>();
    return *compiler_;
  }

  std::unique_ptr<Driver> driver_;
  std::mutex mutex_;
  std::unique_ptr<Compiler> compiler_;
};

}  // namespace
}  // namespace tenon::cuda

TENON_BACKEND(tenon::cuda::CudaBackend)
