// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as SPIR-V, with its texts and its saved form; a backend derives from it and adds what
// its driver makes of the code.
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

/// What a SpirvExecutable is made of.
struct SpirvCode {
  Program program;
  SpirvTarget target;
  std::vector<uint32_t> words;
  std::vector<std::byte> driver_data;  ///< that was saved with it; may be empty
};

/// Throws TN_ERROR_COMPILE_FAILED with the compiler's words.
SpirvCode compile_spirv(const ProgramView& program, const SpirvTarget& target);
/// What SpirvExecutable::save() gave; throws TN_ERROR_INCOMPATIBLE for anything else.
SpirvCode load_spirv(std::span<const std::byte> bytes, const SpirvTarget& target,
                     std::string_view identity);

class SpirvExecutable : public ShaderExecutable {
 public:
  /// `identity` says what driver_data() is for: backend, version, driver. The target and this build
  /// of the plugin are always part of what saved bytes must match.
  SpirvExecutable(const SpirvCode& code, const Device* device, std::string identity);

  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;
  std::span<const uint32_t> words() const { return words_; }

 protected:
  /// What the driver has made of the code, to be saved with it: a pipeline cache.
  virtual std::vector<std::byte> driver_data() const { return {}; }

 private:
  const SpirvTarget target_;
  const std::vector<uint32_t> words_;
  const std::string identity_;
};

}  // namespace tenon::sdk
