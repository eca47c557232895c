// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the program of one op with the sdk and offers it.
#include "conformance/refusal.hpp"

#include "core/support/error.hpp"
#include "sdk/helpers/program_builder.hpp"

namespace tenon::conformance {
namespace {

sdk::Program program_of(const Node& op) {
  sdk::ProgramBuilder builder("offer");
  const auto code = [](DType dtype) { return static_cast<tn_dtype>(dtype); };
  std::vector<uint32_t> buffers;
  for (size_t i = 0; i < op.sources.size(); ++i)
    buffers.push_back(
        builder.buffer("x" + std::to_string(i), code(op.sources[i]->dtype), TN_ACCESS_READ, 1));
  const uint32_t out = builder.buffer("out", code(op.dtype), TN_ACCESS_WRITE, 1);
  const uint32_t first = builder.constant(TN_DTYPE_I32, 0);
  std::vector<uint32_t> values;
  for (size_t i = 0; i < buffers.size(); ++i)
    values.push_back(builder.op(TN_OP_TAKE, code(op.sources[i]->dtype), 1, {buffers[i], first}));
  const uint32_t result = builder.op(static_cast<tn_opcode>(op.op), code(op.dtype), 1, values);
  builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, first, result});
  return builder.finish();
}

}  // namespace

Outcome offer_op(Device& device, const Node& op, bool claimed) {
  const sdk::Program program = program_of(op);
  tn_target target = TN_INIT(tn_target);
  target.device = device.handle();
  char reason[256] = "";
  const int32_t answer = device.plugin().supports(&target, program.get(), sizeof reason, reason);
  reason[sizeof reason - 1] = '\0';
  Outcome outcome;
  const auto failed = [&](std::string text) {
    outcome.status = Status::kFail;
    outcome.kind = "support";
    outcome.text = std::move(text);
    return outcome;
  };
  try {
    device.compile(*program.get());
    if (answer == TN_SUPPORT_NO)
      return failed(fmt::format("supports said no ({}), and compile succeeded", reason));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kDeviceLost) throw;
    if (answer != TN_SUPPORT_NO)
      return failed(fmt::format("supports said yes, and compile failed: {}", error.what()));
    if (claimed) return failed(fmt::format("a claimed op was refused: {}", error.what()));
  }
  return outcome;
}

}  // namespace tenon::conformance
