// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index arithmetic as a sum: constant + coefficient * value + ...
#pragma once

#include <map>
#include <optional>

#include "conformance/selftest/plugin/code.hpp"

namespace tenon::planted {

struct IndexForm {
  int64_t constant = 0;
  std::map<uint32_t, int64_t> terms;  ///< coefficient by value number; none is 0

  bool goes_backwards() const;
};

/// Of an integer value. What is no sum or product by a constant is a term of its own.
IndexForm index_form(const Code& code, uint32_t value);

/// The bits of a CONST as a signed number.
std::optional<int64_t> constant_of(const Code& code, uint32_t value);

/// Whether a value comes from the launch's coordinates and loops alone, not from memory.
bool is_coordinate(const Code& code, uint32_t value);

}  // namespace tenon::planted
