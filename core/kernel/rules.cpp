// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/rules.hpp"

namespace tenon {

TransformList choose_transforms(const Kernel&, const Capabilities&) { return {}; }

}  // namespace tenon
