// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sdk/vendor_compilers.hpp"

namespace tenon::sdk {
namespace {

const std::string kNvrtcFiles[] = {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so",
                                   "libnvrtc.so"};
const std::string kHiprtcFiles[] = {"libhiprtc.so", "libamdhip64.so.5", "libamdhip64.so"};

}  // namespace

RuntimeCompiler open_nvrtc() { return {kNvrtcFiles, "nvrtc", "CUBIN", "PTX"}; }
RuntimeCompiler open_hiprtc() { return {kHiprtcFiles, "hiprtc", "Code", nullptr}; }

std::vector<std::string> cuda_options(const std::string& target) {
  return {"--gpu-architecture=" + target, "--std=c++17", "--fmad=false"};
}
std::vector<std::string> hip_options(const std::string& target) {
  return {"--gpu-architecture=" + target, "-std=c++17", "-ffp-contract=off"};
}

}  // namespace tenon::sdk
