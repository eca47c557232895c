// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of an array as text that reads back to the same bits.
#pragma once

#include <string>
#include <string_view>

#include "core/reference/reference.hpp"

namespace tenon::conformance {

std::string write_scalar(const Scalar& value);
/// nullopt for what is not a value of the dtype.
std::optional<Scalar> read_scalar(std::string_view text, DType dtype);

}  // namespace tenon::conformance
