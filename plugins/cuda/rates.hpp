// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Throughput and latency of architectures, as data.
#pragma once

#include "tenon/plugin.h"

namespace tenon::cuda {

/// `architecture`: 90 for 9.0. Null for an unknown one.
const tn_rates* rates_of(int architecture);

}  // namespace tenon::cuda
