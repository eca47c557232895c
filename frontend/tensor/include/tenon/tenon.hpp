// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All that an application includes.
#pragma once

#include "tenon/array.hpp"         // IWYU pragma: export
#include "tenon/axes.hpp"          // IWYU pragma: export
#include "tenon/compile.hpp"       // IWYU pragma: export
#include "tenon/context.hpp"       // IWYU pragma: export
#include "tenon/control_flow.hpp"  // IWYU pragma: export
#include "tenon/dlpack.hpp"        // IWYU pragma: export
#include "tenon/dtype.hpp"         // IWYU pragma: export
#include "tenon/error.hpp"         // IWYU pragma: export
#include "tenon/fft.hpp"           // IWYU pragma: export
#include "tenon/function.hpp"      // IWYU pragma: export
#include "tenon/gradient.hpp"      // IWYU pragma: export
#include "tenon/index.hpp"         // IWYU pragma: export
#include "tenon/linalg.hpp"        // IWYU pragma: export
#include "tenon/literal.hpp"       // IWYU pragma: export
#include "tenon/make.hpp"          // IWYU pragma: export
#include "tenon/move.hpp"          // IWYU pragma: export
#include "tenon/npy.hpp"           // IWYU pragma: export
#include "tenon/print.hpp"         // IWYU pragma: export
#include "tenon/promote.hpp"       // IWYU pragma: export
#include "tenon/random.hpp"        // IWYU pragma: export
#include "tenon/sort.hpp"          // IWYU pragma: export
#include "tenon/tensor.hpp"        // IWYU pragma: export
