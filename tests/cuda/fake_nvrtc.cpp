// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An NVRTC of version FAKE_NVRTC_MAJOR.0 that knows sm_75, sm_80 and sm_90, and whose code says
// what made it: "CUBIN 13 sm_90a", "PTX 13 compute_90".
#include <cstring>
#include <string>

namespace {

struct Made {
  std::string target;
};

std::string text_of(const Made* made, const char* kind) {
  return std::string(kind) + " " + std::to_string(FAKE_NVRTC_MAJOR) + " " + made->target;
}
int size_of(const std::string& text, size_t* out) { return *out = text.size() + 1, 0; }
int copy_of(const std::string& text, char* out) {
  std::memcpy(out, text.c_str(), text.size() + 1);
  return 0;
}

}  // namespace

extern "C" {
int nvrtcVersion(int* major, int* minor) { return *major = FAKE_NVRTC_MAJOR, *minor = 0, 0; }
int nvrtcGetNumSupportedArchs(int* out) { return *out = 3, 0; }
int nvrtcGetSupportedArchs(int* out) { return out[0] = 75, out[1] = 80, out[2] = 90, 0; }
int nvrtcCreateProgram(Made** out, const char*, const char*, int, const char* const*,
                       const char* const*) {
  return *out = new Made(), 0;
}
int nvrtcDestroyProgram(Made** made) { return delete *made, 0; }
int nvrtcCompileProgram(Made* made, int count, const char* const* options) {
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i], name = "--gpu-architecture=";
    if (option.rfind(name, 0) == 0) made->target = option.substr(name.size());
  }
  for (const char* known : {"_75", "_80", "_90"}) {
    if (made->target.find(known) != std::string::npos) return 0;
  }
  return 5;  // NVRTC_ERROR_INVALID_OPTION
}
int nvrtcGetProgramLogSize(Made*, size_t* out) { return *out = 0, 0; }
int nvrtcGetProgramLog(Made*, char*) { return 0; }
const char* nvrtcGetErrorString(int) { return "FAKE_NVRTC_ERROR"; }
int nvrtcGetCUBINSize(Made* made, size_t* out) { return size_of(text_of(made, "CUBIN"), out); }
int nvrtcGetCUBIN(Made* made, char* out) { return copy_of(text_of(made, "CUBIN"), out); }
int nvrtcGetPTXSize(Made* made, size_t* out) { return size_of(text_of(made, "PTX"), out); }
int nvrtcGetPTX(Made* made, char* out) { return copy_of(text_of(made, "PTX"), out); }
}
