// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/helpers/program_view.hpp"
