// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All that a program which learns by a loop of ours includes.
#pragma once

#include "tenon/train/batches.hpp"   // IWYU pragma: export
#include "tenon/train/fit.hpp"       // IWYU pragma: export
#include "tenon/train/progress.hpp"  // IWYU pragma: export
