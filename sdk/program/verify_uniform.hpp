// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that meet: a BARRIER, subgroup and matrix ops stand only where all threads of their
// scope come to, or none.
#pragma once

#include <cstdint>
#include <string>

#include "sdk/program/view.hpp"

namespace tenon::sdk {

/// Of a program that is otherwise legal: what is wrong with op `at`, or nothing.
std::string check_uniform(const ProgramView& program, uint32_t& at);

}  // namespace tenon::sdk
