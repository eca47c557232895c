// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets an exception cross the boundary.
#include <stdexcept>

#include "tenon/plugin.h"

extern "C" const tn_plugin* tn_plugin_query(const tn_host*, uint32_t, uint32_t, tn_error*) {
  throw std::runtime_error("no one catches this");
}
