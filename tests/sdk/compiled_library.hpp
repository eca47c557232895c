// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Source text to a library of this process, by the host's compiler.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/plugin/device.hpp"

namespace tenon::sdk {

/// `compiler` is a command with its options, as "cc -O1"; `inputs` are libraries. `file` is the
/// name of the source, whose ending says its language. Throws std::runtime_error with the
/// compiler's words. TENON_KEEP_SOURCES keeps what was written.
void* compiled_library(const std::string& compiler, const std::string& file,
                       const std::string& source, const std::string& inputs = "");

/// What launches take: for each argument its first byte, or the scalar's.
class ArgumentPointers {
 public:
  explicit ArgumentPointers(std::span<const plugin_test::Argument> arguments);
  void* const* data() const { return pointers_.data(); }

 private:
  std::vector<uint64_t> scalars_;
  std::vector<void*> pointers_;
};

}  // namespace tenon::sdk
