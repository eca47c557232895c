// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs in text form: as `tenon show --stage program` prints them, one after the other, and as
// the steps of a reproducer of tenon-conformance ("# sequence | program ..").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sdk/program/builder.hpp"

namespace tenon::cli {

/// Verified; none where the text holds no program. Throws kInvalid with origin and line.
std::vector<sdk::Program> programs_in(std::string_view text, std::string_view origin);

}  // namespace tenon::cli
