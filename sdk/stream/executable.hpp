// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code for a stream device: a binary of the vendor's compiler, loaded as a module where there is a
// device to run it.
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

/// A program in a compiler's language, and what came of it.
struct StreamCode {
  std::string source;
  std::string entry;                  ///< the kernel's name
  std::string target;                 ///< what it is for
  uint32_t dynamic_shared_bytes = 0;  ///< that a launch brings
  std::vector<std::byte> binary;
  uint32_t registers = 0, spills = 0;  ///< of a thread, in 32-bit words; 0 if nobody says
};

/// What StreamExecutable::save() gave; registers and spills are not kept. Throws
/// TN_ERROR_INCOMPATIBLE for another identity and for damaged bytes.
struct SavedStreamCode {
  Program program;
  StreamCode code;
};
SavedStreamCode unpack_stream_code(std::span<const std::byte> bytes, std::string_view identity,
                                   std::string target);

/// Gives code as assembly for people; throws TN_ERROR_UNSUPPORTED where it cannot.
using Disassemble = std::function<std::string(const StreamCode&)>;

class StreamExecutable : public HostExecutable {
 public:
  /// `context` null: it can be looked at and saved, not launched. `identity` names backend,
  /// version, compiler and target.
  StreamExecutable(Program program, StreamCode code, std::string identity, Disassemble disassemble,
                   std::shared_ptr<StreamContext> context);
  ~StreamExecutable() override;
  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;

  /// To be launched on this device; throws TN_ERROR_INVALID_ARGUMENT if it was compiled for another
  /// or for a target by name.
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
