// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What right answers needed beyond the strictest profile.
#pragma once

#include "conformance/cases/case.hpp"
#include "core/interval/interval.hpp"

namespace tenon::conformance::judge {

/// The smallest set of Needs under which the outputs are still right; of several smallest ones the
/// first. `declared` must accept them.
uint32_t needs_of(const Case& test, const std::vector<Array>& outputs, const Profile& declared);

}  // namespace tenon::conformance::judge
