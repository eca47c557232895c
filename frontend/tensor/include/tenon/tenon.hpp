// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All that an application includes.
#pragma once

#include "core/ir/text.hpp"            // IWYU pragma: export
#include "core/runtime/context.hpp"    // IWYU pragma: export
#include "core/support/error.hpp"      // IWYU pragma: export
#include "frontend/tensor/npy.hpp"     // IWYU pragma: export
#include "frontend/tensor/tensor.hpp"  // IWYU pragma: export
