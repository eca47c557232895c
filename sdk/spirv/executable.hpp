// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as SPIR-V, with its texts and saved form. A backend derives from it and adds the
// pipeline of its driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/shader/executable.hpp"
#include "sdk/spirv/target.hpp"

namespace tenon::sdk {

/// The contents of a SpirvExecutable.
struct SpirvCode {
  Program program;
  SpirvTarget target;
  std::vector<uint32_t> words;
  std::vector<std::byte> driver_data;  ///< saved with it; may be empty
};

/// Throws TN_ERROR_COMPILE_FAILED with the message of the compiler.
SpirvCode compile_spirv(const ProgramView& program, const SpirvTarget& target);
/// Unpacks bytes of SpirvExecutable::save(). Throws TN_ERROR_INCOMPATIBLE for other bytes.
SpirvCode load_spirv(std::span<const std::byte> bytes, const SpirvTarget& target,
                     std::string_view identity);

class SpirvExecutable : public ShaderExecutable {
 public:
  /// `identity` names backend, version and driver of driver_data(). Saved bytes must also match the
  /// target and the build of the plugin.
  SpirvExecutable(const SpirvCode& code, const Device* device, std::string identity);

  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;
  std::span<const uint32_t> words() const { return words_; }

 protected:
  /// Data of the driver to save with the code: a pipeline cache.
  virtual std::vector<std::byte> driver_data() const { return {}; }

 private:
  const SpirvTarget target_;
  const std::vector<uint32_t> words_;
  const std::string identity_;
};

}  // namespace tenon::sdk
