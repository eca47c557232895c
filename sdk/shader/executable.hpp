// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program whose launches bind buffers and pass scalars as one block of bytes.
#pragma once

#include <utility>

#include "sdk/backend/host_device.hpp"
#include "sdk/render/scalar_layout.hpp"

namespace tenon::sdk {

/// The executable of a Recorder.
class ShaderExecutable : public ProgramExecutable {
 public:
  /// `device` null: it can be printed and saved, but not launched.
  ShaderExecutable(Program program, const Device* device)
      : ProgramExecutable(std::move(program)),
        device_(device),
        bindings_(ProgramExecutable::program()) {}

  const Device* device() const { return device_; }
  const ShaderBindings& bindings() const { return bindings_; }

 private:
  const Device* const device_;
  const ShaderBindings bindings_;
};

}  // namespace tenon::sdk
