// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/program_params.hpp"

#include "core/support/error.hpp"

namespace tenon {

ProgramParams::ProgramParams(const Kernel& kernel, KernelOps& ops)
    : kernel_(kernel),
      ops_(ops),
      buffers_(kernel.buffers.size(), kNone),
      floor_(kernel.buffers.size(), 0) {}

ProgramParams::Value ProgramParams::add(Param param) {
  const Value v = ops_.tree().param(static_cast<tn_dtype>(param.dtype), params_.size());
  params_.push_back(std::move(param));
  return v;
}

ProgramParams::Value ProgramParams::buffer(int b) {
  if (buffers_[b] == kNone) buffers_[b] = add({.buffer = b, .dtype = kernel_.buffers[b].dtype});
  return buffers_[b];
}

ProgramParams::Value ProgramParams::symbol(const Expr& symbol) {
  const std::string& name = symbol.name();
  if (const auto known = symbols_.find(name); known != symbols_.end()) return known->second;
  const bool declared =
      std::ranges::any_of(kernel_.symbols, [&](const Expr& s) { return s.name() == name; });
  if (!declared)
    fail(ErrorKind::kInternal, "[lower] expected a symbol of kernel {}, got {}", kernel_.name,
         name);
  return symbols_[name] =
             add({.kind = Param::Kind::kScalar, .symbol = symbol, .dtype = ops_.index_dtype()});
}

ProgramParams::Value ProgramParams::shared(DType dtype, int64_t count) {
  return add({.kind = Param::Kind::kShared, .dtype = dtype, .count = count});
}

void ProgramParams::filled(int b) {
  floor_[b] = ops_.tree().region();
  ops_.tree().changed(buffer(b));
}

uint32_t ProgramParams::floor(int b) const {
  return ops_.tree().inner(ops_.tree().conditional(), floor_[b]);
}

}  // namespace tenon
