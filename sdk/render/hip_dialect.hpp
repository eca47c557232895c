// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HIP C++ for hiprtc. Compile with -ffp-contract=off and correctly rounded f32 division and root.
#pragma once

#include <span>
#include <string_view>

#include "sdk/render/dialect.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

const Dialect& hip_dialect();

/// The matrix atoms of an architecture, as "gfx90a", sorted by id.
std::span<const tn_matrix_atom> hip_atoms(std::string_view architecture);

/// Threads of a subgroup: 64 on gfx9 and before, 32 from gfx10 on.
uint32_t hip_subgroup_size(std::string_view architecture);

}  // namespace tenon::sdk
