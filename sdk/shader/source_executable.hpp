// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An executable that a driver compiles from source to a binary, which it can load again.
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
  /// Unpacks bytes of save() with this identity and build. Throws TN_ERROR_INCOMPATIBLE for other
  /// bytes.
  static Saved saved(std::span<const std::byte> bytes, std::string_view identity);

  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;
  /// The binary of the driver.
  virtual std::vector<std::byte> binary() const = 0;

 protected:
  /// `identity`: everything but the source that determines the binary, as names of device and
  /// driver.
  SourceExecutable(Program program, const Device* device, const Dialect& dialect,
                   std::string identity);
  const std::string& source() const { return source_; }

 private:
  const std::string source_, identity_;
};

}  // namespace tenon::sdk
