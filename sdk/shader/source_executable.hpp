// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a driver compiles from source to a binary that it takes again.
#pragma once

#include <string>
#include <vector>

#include "sdk/render/dialect.hpp"
#include "sdk/shader/executable.hpp"

namespace tenon::sdk {

class SourceExecutable : public ShaderExecutable {
 public:
  struct Saved {
    Program program;
    std::vector<std::byte> binary;
  };
  /// What save() of the same identity and build of the library wrote; throws
  /// TN_ERROR_INCOMPATIBLE for other bytes.
  static Saved saved(std::span<const std::byte> bytes, std::string_view identity);

  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;
  /// As the driver gives it.
  virtual std::vector<std::byte> binary() const = 0;

 protected:
  /// `identity`: what else than the source decides what the binary is, as the names of device and
  /// driver.
  SourceExecutable(Program program, const Device* device, const Dialect& dialect,
                   std::string identity);
  const std::string& source() const { return source_; }

 private:
  const std::string source_, identity_;
};

}  // namespace tenon::sdk
