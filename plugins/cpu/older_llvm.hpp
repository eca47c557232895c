// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Differences of LLVM 16 and 17 from LLVM 19 (TENON_CPU_LLVM), so that the fuzzer can try them.
#pragma once

#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/TargetParser/Host.h>

namespace tenon::cpu {

#if LLVM_VERSION_MAJOR >= 18
constexpr auto kAssemblyFile = llvm::CodeGenFileType::AssemblyFile;
constexpr auto kObjectFile = llvm::CodeGenFileType::ObjectFile;
constexpr auto kDefaultLevel = llvm::CodeGenOptLevel::Default;
#else
constexpr auto kAssemblyFile = llvm::CGFT_AssemblyFile;
constexpr auto kObjectFile = llvm::CGFT_ObjectFile;
constexpr auto kDefaultLevel = llvm::CodeGenOpt::Default;
#endif

/// A shuffle mask element for an undefined lane.
#if LLVM_VERSION_MAJOR >= 17
constexpr int kAnyLane = llvm::PoisonMaskElem;
#else
constexpr int kAnyLane = llvm::UndefMaskElem;
#endif

inline llvm::StringMap<bool> host_features() {
#if LLVM_VERSION_MAJOR >= 19
  return llvm::sys::getHostCPUFeatures();
#else
  llvm::StringMap<bool> features;
  llvm::sys::getHostCPUFeatures(features);
  return features;
#endif
}

/// A truncation without overflow, signed or also unsigned.
inline llvm::Value* narrowed(llvm::IRBuilder<>& b, llvm::Value* value, llvm::Type* type,
                             [[maybe_unused]] bool is_positive) {
#if LLVM_VERSION_MAJOR >= 19
  return b.CreateTrunc(value, type, "", is_positive, true);
#else
  return b.CreateTrunc(value, type);
#endif
}

#if LLVM_VERSION_MAJOR >= 17
inline llvm::orc::ExecutorSymbolDef symbol_at(llvm::orc::ExecutorAddr address,
                                              llvm::JITSymbolFlags flags) {
  return {address, flags};
}
inline llvm::orc::ExecutorAddr address_of(const llvm::orc::ExecutorSymbolDef& symbol) {
  return symbol.getAddress();
}
#else
inline llvm::JITEvaluatedSymbol symbol_at(llvm::orc::ExecutorAddr address,
                                          llvm::JITSymbolFlags flags) {
  return {address.getValue(), flags};
}
inline llvm::orc::ExecutorAddr address_of(const llvm::JITEvaluatedSymbol& symbol) {
  return llvm::orc::ExecutorAddr(symbol.getAddress());
}
#endif

}  // namespace tenon::cpu
