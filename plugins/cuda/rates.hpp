// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an architecture gets through, as data.
#pragma once

#include "tenon/plugin.h"

namespace tenon::cuda {

/// 90 for 9.0. Null for an architecture of which nothing is known.
const tn_rates* rates_of(int architecture);

}  // namespace tenon::cuda
