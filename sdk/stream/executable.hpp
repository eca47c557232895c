// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code for a stream device: a binary of the vendor's compiler, loaded as a module if there is a
// device.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sdk/backend/host_device.hpp"
#include "sdk/stream/context.hpp"

namespace tenon::sdk {

/// The source of a program and the result of its compilation.
struct StreamCode {
  std::string source;
  std::string entry;                  ///< the kernel's name
  std::string target;                 ///< the target of the binary
  uint32_t dynamic_shared_bytes = 0;  ///< dynamic shared memory of a launch
  std::vector<std::byte> binary;
  uint32_t registers = 0, spills = 0;  ///< of a thread, in 32-bit words; 0 if unknown
};

/// Unpacked bytes of StreamExecutable::save(), without registers and spills. Throws
/// TN_ERROR_INCOMPATIBLE for another identity and for damaged bytes.
struct SavedStreamCode {
  Program program;
  StreamCode code;
};
SavedStreamCode unpack_stream_code(std::span<const std::byte> bytes, std::string_view identity,
                                   std::string target);

/// Disassembles code. Throws TN_ERROR_UNSUPPORTED if it cannot.
using Disassemble = std::function<std::string(const StreamCode&)>;

class StreamExecutable : public HostExecutable {
 public:
  /// `context` null: it can be printed and saved, but not launched. `identity` names backend,
  /// version, compiler and target.
  StreamExecutable(Program program, StreamCode code, std::string identity, Disassemble disassemble,
                   std::shared_ptr<StreamContext> context);
  ~StreamExecutable() override;
  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;

  /// The function to launch on this device. Throws TN_ERROR_INVALID_ARGUMENT if it was compiled for
  /// another device or for a target by name.
  ApiFunction* function(const StreamContext& context) const;
  uint32_t dynamic_shared_bytes() const { return code_.dynamic_shared_bytes; }

 private:
  void load_module();

  Program program_;
  StreamCode code_;
  std::string identity_;
  Disassemble disassemble_;
  std::shared_ptr<StreamContext> context_;
  ApiModule* module_ = nullptr;
  ApiFunction* function_ = nullptr;
};

}  // namespace tenon::sdk
