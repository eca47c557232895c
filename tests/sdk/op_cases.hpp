// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that do every elementwise op of a language, or every cast, of a dtype on values that are
// apt to go wrong, and what the scalar oracle says to their results. What prints or compiles
// programs is tested with them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sdk/program/builder.hpp"
#include "tests/sdk/null_device.hpp"

namespace tenon::sdk {

/// One launch of `count` x 1 x 1 workgroups.
struct OpCase {
  Program program;
  uint32_t count = 0;
  std::vector<Bytes> bytes;  ///< of each buffer: inputs, then outputs
  /// Sentences on what the outputs should have been.
  std::function<std::vector<std::string>(const OpCase&)> differences;

  std::vector<TestArgument> arguments();
};

std::span<const tn_dtype> tested_dtypes();
/// The principal ops, and the optional ones that are claimed.
OpCase elementwise_case(tn_dtype dtype, std::span<const tn_opcode> claimed);
OpCase cast_case(tn_dtype from);

}  // namespace tenon::sdk
