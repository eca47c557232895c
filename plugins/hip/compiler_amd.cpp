// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hiprtc, opened at run time: source to code object. Sources: hiprtc.h, and clang's user manual.
#include "sdk/stream/compiler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/hip/code_object.hpp"
#include "plugins/hip/libraries.hpp"
#include "plugins/hip/platform.hpp"
#include "sdk/helpers/failure.hpp"

namespace tenon::hip {
namespace {

constexpr sdk::RuntimeCompiler::Names kNames = {.create = "hiprtcCreateProgram",
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

/// Before it had a library of its own it was in HIP's (to ROCm 5.5).
std::vector<std::string> libraries() {
  std::vector<std::string> out = versions("libhiprtc.so", {".7", ".6", ".5", ""});
  const std::vector<std::string> older = versions("libamdhip64.so", {".5", ""});
  out.insert(out.end(), older.begin(), older.end());
  return out;
}

class Compiler : public sdk::StreamCompiler {
 public:
  Compiler() : hiprtc_(libraries(), kNames) {}

  /// Without features: what the driver says of a device may have them.
  std::optional<sdk::StreamLimits> find_target(std::string_view name) const override {
    if (!knows(name)) return std::nullopt;
    return platform_limits(name);
  }

  void compile(const sdk::ProgramView&, sdk::StreamCode& code) const override {
    // hiprtc 5.2 ends the process at an architecture that it does not know.
    if (!knows(code.target.substr(0, code.target.find(':')))) {
      throw sdk::Failure(TN_ERROR_COMPILE_FAILED,
                         fmt::format("{}: expected an architecture that it knows, got {}",
                                     hiprtc_.library().name(), code.target));
    }
    const std::string options[] = {"--gpu-architecture=" + code.target, "--std=c++17",
                                   "-ffp-contract=off"};
    sdk::Compiled out = hiprtc_.compile(code.source, options, sdk::RuntimeCompiler::Output::kCode);
    code.binary = std::move(out.bytes);
    const CodeObjects::Usage usage = objects_.usage(code.binary);
    code.registers = usage.registers;
    code.spills = usage.spills;
  }

  std::string disassemble(const sdk::StreamCode& code) const override {
    return objects_.disassemble(code.binary);
  }

  std::string identity() const override { return "hiprtc " + hiprtc_.version(); }

 private:
  bool knows(std::string_view architecture) const {
    const auto& all = objects_.architectures();
    return std::ranges::find(all, architecture) != all.end();
  }

  sdk::RuntimeCompiler hiprtc_;
  CodeObjects objects_;
};

}  // namespace

std::unique_ptr<sdk::StreamCompiler> open_compiler() { return std::make_unique<Compiler>(); }

}  // namespace tenon::hip
