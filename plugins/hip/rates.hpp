// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an architecture gets through, as data.
#pragma once

#include <string_view>

#include "tenon/plugin.h"

namespace tenon::hip {

/// By the name without features, as "gfx90a". Null for one of which nothing is known.
const tn_rates* rates_of(std::string_view architecture);

}  // namespace tenon::hip
