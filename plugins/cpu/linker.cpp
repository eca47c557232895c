// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Links an object into this process by LLVM's ORC and JITLink.
#include "plugins/cpu/linker.hpp"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include "plugins/cpu/emitter.hpp"
#include "plugins/cpu/host_math.hpp"
#include "plugins/cpu/older_llvm.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::cpu {
namespace {

template <class T>
T require(llvm::Expected<T> value) {
  if (!value) throw sdk::Failure(TN_ERROR_INTERNAL, "llvm: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

void require(llvm::Error error) {
  if (error) throw sdk::Failure(TN_ERROR_INTERNAL, "llvm: " + llvm::toString(std::move(error)));
}

}  // namespace

struct LinkedObject::Session {
  llvm::orc::ExecutionSession session{
      std::make_unique<llvm::orc::UnsupportedExecutorProcessControl>()};
  llvm::orc::ObjectLinkingLayer layer{session,
                                      require(llvm::jitlink::InProcessMemoryManager::Create())};
  ~Session() { llvm::consumeError(session.endSession()); }
};

LinkedObject::LinkedObject(std::span<const std::byte> object)
    : session_(std::make_unique<Session>()) {
  try {
    link(object);
  } catch (const std::bad_alloc&) {
    (void)session_.release();  // LLVM's objects are in an undefined state, see compiler.cpp
    throw;
  }
}

void LinkedObject::link(std::span<const std::byte> object) {
  using namespace llvm::orc;
  ExecutionSession& session = session_->session;
  // lookup() returns errors; do not print them on stderr.
  session.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
  JITDylib& dylib = session.createBareJITDylib("kernel");
  SymbolMap symbols;
  for (const HostFunction& function : host_functions())
    symbols[session.intern(function.name)] =
        symbol_at(ExecutorAddr::fromPtr(function.address),
                  llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable);
  require(dylib.define(absoluteSymbols(std::move(symbols))));
  require(session_->layer.add(
      dylib, llvm::MemoryBuffer::getMemBufferCopy(
                 {reinterpret_cast<const char*>(object.data()), object.size()}, "kernel.o")));
  const auto entry = require(session.lookup({&dylib}, session.intern(kEntryName)));
  entry_ = address_of(entry).toPtr<KernelEntry>();
}

LinkedObject::~LinkedObject() = default;

}  // namespace tenon::cpu
