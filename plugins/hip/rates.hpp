// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Throughput and latency of architectures, as data.
#pragma once

#include <string_view>

#include "tenon/plugin.h"

namespace tenon::hip {

/// By name without features, as "gfx90a". Null for an unknown one.
const tn_rates* rates_of(std::string_view architecture);

}  // namespace tenon::hip
