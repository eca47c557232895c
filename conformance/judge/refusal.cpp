// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the program of one op with the sdk and offers it.
#include "conformance/judge/refusal.hpp"

#include "conformance/cases/graphs/shapes.hpp"
#include "core/support/error.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::conformance::judge {
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

/// Every dtype of the op is one that programs may declare, and the device computes with.
bool is_claimed(const Node& op, const Capabilities& capabilities) {
  const auto declares = [&](DType dtype) {
    return capabilities.of(dtype).storage &&
           static_cast<int>(dtype_size(dtype)) >= capabilities.storage_bytes;
  };
  if (is_optional(op.op) && !capabilities.has(op.op)) return false;
  if (!declares(op.dtype)) return false;
  for (const NodeRef& source : op.sources)
    if (!declares(source->dtype) || !capabilities.of(source->dtype).arithmetic) return false;
  return true;
}

/// A sentence about a dtype of the case that the device lacks, or nothing. Narrow dtypes need no
/// arithmetic of their own: the core widens them.
std::string missing_dtype(const Case& test, const Capabilities& capabilities) {
  for (const NodeRef& node : topological(test.graph.outputs)) {
    if (!capabilities.stores(node->dtype))
      return fmt::format("the device does not store {}", dtype_name(node->dtype));
    if (!capabilities.computes(node->dtype) && dtype_size(node->dtype) >= 4)
      return fmt::format("the device does not compute with {}", dtype_name(node->dtype));
  }
  return {};
}

/// A sentence about a tensor of the case that is larger than a buffer of the device, or nothing.
std::string too_large(const Case& test, const Capabilities& capabilities) {
  if (capabilities.max_buffer_bytes == 0) return {};
  std::vector<NodeRef> nodes = topological(test.graph.outputs);
  nodes.insert(nodes.end(), test.graph.params.begin(), test.graph.params.end());
  for (const NodeRef& node : nodes) {
    double bytes = static_cast<double>(dtype_size(node->dtype));
    for (const int64_t size : graphs::concrete(node->shape, test.symbols))
      bytes *= static_cast<double>(size);
    if (bytes > static_cast<double>(capabilities.max_buffer_bytes))
      return fmt::format("the device's buffers have at most {} bytes, {}{} takes {:.0f}",
                         capabilities.max_buffer_bytes, dtype_name(node->dtype),
                         to_string(node->shape), bytes);
  }
  return {};
}

/// The limit that the device declares and the core refused the case for, or nothing. What the
/// plugin refuses begins with [compile]: it claimed to take that.
std::string declared_limit(std::string_view text, const Capabilities& capabilities) {
  if (text.starts_with("[compile]")) return {};
#define TN_SIZE(type, name, untold)
#define TN_LIMIT(type, name, untold)                                        \
  if (capabilities.name != 0 && text.find(#name) != std::string_view::npos) \
    return fmt::format("the device's " #name " is {}: {}", capabilities.name, text);
#include "core/ir/limits.def"
  return {};
}

}  // namespace

Outcome from_error(const Error& error, const Case& test, const Capabilities& capabilities) {
  switch (error.kind()) {
    case ErrorKind::kUnsupported:
      if (const std::string missing = missing_dtype(test, capabilities); !missing.empty())
        return {Status::kUnsupported, "dtype", missing};
      if (const std::string large = too_large(test, capabilities); !large.empty())
        return {Status::kUnsupported, "buffer", large};
      if (const std::string limit = declared_limit(error.what(), capabilities); !limit.empty())
        return {Status::kUnsupported, "limit", limit};
      return failed("support", error.what());
    case ErrorKind::kDeviceLost:
      return {Status::kDeviceLost, "lost", error.what()};
    case ErrorKind::kOutOfMemory:
      if (const std::string large = too_large(test, capabilities); !large.empty())
        return {Status::kUnsupported, "buffer", large};
      return failed("memory", error.what());
    case ErrorKind::kInvalid:
    case ErrorKind::kEnvironment:
    case ErrorKind::kInternal:
      return failed("error", error.what());
  }
  return failed("error", error.what());
}

Outcome offer_op(const TargetCompiler& compiler, const Node& op) {
  const sdk::Program program = program_of(op);
  std::string reason;
  const tn_support answer = compiler.supports(*program.get(), reason);
  Outcome outcome;
  const auto failed = [&](std::string text) {
    outcome.status = Status::kFail;
    outcome.kind = "support";
    outcome.text = std::move(text);
    return outcome;
  };
  try {
    compiler.compile_unasked(*program.get());
    if (answer == TN_SUPPORT_NO)
      return failed(fmt::format("supports said no ({}), and compile succeeded", reason));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kDeviceLost) throw;
    if (answer != TN_SUPPORT_NO)
      return failed(fmt::format("supports said yes, and compile failed: {}", error.what()));
    if (is_claimed(op, compiler.capabilities()))
      return failed(fmt::format("a claimed op was refused: {}", error.what()));
  }
  return outcome;
}

}  // namespace tenon::conformance::judge
