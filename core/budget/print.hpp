// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "core/budget/budget.hpp"

namespace tenon {

/// The text of `tenon show --stage budget`.
std::string print(const Budget& budget, const sdk::ProgramView& program,
                  const Capabilities& device);

}  // namespace tenon
