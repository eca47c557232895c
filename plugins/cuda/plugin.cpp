// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA backend: the driver API, NVRTC and the CUDA dialect under the sdk's host logic.
#include "plugins/cuda/compiler.hpp"
#include "plugins/cuda/driver.hpp"
#include "sdk/render/cuda_dialect.hpp"

namespace tenon::cuda {
namespace {

std::span<const tn_matrix_atom> atoms(std::string_view target) {
  const auto architecture = parse_target(target);
  if (!architecture) return {};
  return sdk::cuda_atoms(architecture->capability, architecture->suffix == 'a');
}

constexpr sdk::StreamPlatform kPlatform = {
    .open_driver = [] { return std::unique_ptr<sdk::StreamVendor>(new Driver()); },
    .open_compiler =
        [](int driver) { return std::unique_ptr<sdk::StreamCompiler>(new Compiler(driver)); },
    .dialect = sdk::cuda_dialect,
    .atoms = atoms,
};

class CudaBackend : public sdk::StreamBackend {
 public:
  static constexpr sdk::BackendInfo kInfo{"cuda", TENON_VERSION, "Apache-2.0 WITH LLVM-exception"};
  CudaBackend() : StreamBackend(kPlatform, kInfo.version) {}
};

}  // namespace
}  // namespace tenon::cuda

TENON_BACKEND(tenon::cuda::CudaBackend)
