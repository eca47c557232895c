// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of the table where variants misbehave before or after the work itself.
#pragma once

#include "tenon/plugin.h"

namespace tenon::planted {

void remember_host(const tn_host* host);
/// `plain` with those functions in place; it must live on.
tn_plugin with_planted_calls(const tn_plugin& plain);

}  // namespace tenon::planted
