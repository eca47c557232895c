// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a program on a device and in the model, and compares every byte.
#pragma once

#include <string>

#include "conformance/api/opened.hpp"
#include "conformance/cases/sequence.hpp"
#include "sdk/helpers/program_builder.hpp"

namespace tenon::conformance {

/// Why the device need not take the program; "" if it must.
std::string unclaimed(const Opened& device, const sdk::ProgramView& program,
                      const uint32_t (&grid)[3]);

/// Runs a step `program`, see cases/programs.hpp. Answers why it was left out, or "".
/// Throws a Finding, and kInvalid for a program without a certain meaning.
std::string run_program(const Opened& device, const SequenceStep& step);

}  // namespace tenon::conformance
