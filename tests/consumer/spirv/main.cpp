// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A backend's author compiles a program to SPIR-V with the installed sdk.
#include "sdk/program/builder.hpp"
#include "sdk/spirv/executable.hpp"

int main() {
  using namespace tenon::sdk;
  ProgramBuilder b("zero");
  const ProgramBuilder::Value out = b.buffer("out", TN_DTYPE_F32, TN_ACCESS_WRITE);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
       {out, b.constant(TN_DTYPE_I32, 0), b.constant(TN_DTYPE_F32, 0)});
  const SpirvCode code = compile_spirv(b.finish().view(), find_spirv_target("vulkan1.2").value());
  return code.words.size() > 5 && code.words[0] == 0x07230203 ? 0 : 1;
}
