// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sdk/vendor_compilers.hpp"

namespace tenon::sdk {
namespace {

constexpr RuntimeCompiler::Names kNvrtc = {.create = "nvrtcCreateProgram",
                                           .compile = "nvrtcCompileProgram",
                                           .destroy = "nvrtcDestroyProgram",
                                           .log_size = "nvrtcGetProgramLogSize",
                                           .log = "nvrtcGetProgramLog",
                                           .error_text = "nvrtcGetErrorString",
                                           .version = "nvrtcVersion",
                                           .code_size = "nvrtcGetCUBINSize",
                                           .code = "nvrtcGetCUBIN",
                                           .text_size = "nvrtcGetPTXSize",
                                           .text = "nvrtcGetPTX"};
constexpr RuntimeCompiler::Names kHiprtc = {.create = "hiprtcCreateProgram",
                                            .compile = "hiprtcCompileProgram",
                                            .destroy = "hiprtcDestroyProgram",
                                            .log_size = "hiprtcGetProgramLogSize",
                                            .log = "hiprtcGetProgramLog",
                                            .error_text = "hiprtcGetErrorString",
                                            .version = "hiprtcVersion",
                                            .code_size = "hiprtcGetCodeSize",
                                            .code = "hiprtcGetCode",
                                            .text_size = nullptr,
                                            .text = nullptr};

const std::string kNvrtcFiles[] = {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so",
                                   "libnvrtc.so"};
const std::string kHiprtcFiles[] = {"libhiprtc.so", "libamdhip64.so.5", "libamdhip64.so"};

}  // namespace

RuntimeCompiler open_nvrtc() { return {kNvrtcFiles, kNvrtc}; }
RuntimeCompiler open_hiprtc() { return {kHiprtcFiles, kHiprtc}; }

std::vector<std::string> cuda_options(const std::string& target) {
  return {"--gpu-architecture=" + target, "--std=c++17", "--fmad=false"};
}
std::vector<std::string> hip_options(const std::string& target) {
  return {"--gpu-architecture=" + target, "-std=c++17", "-ffp-contract=off"};
}

}  // namespace tenon::sdk
