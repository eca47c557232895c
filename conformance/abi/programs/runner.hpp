// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a program on a device and in the model, and compares every byte.
#pragma once

#include <string>

#include "conformance/abi/open_device.hpp"
#include "conformance/cases/abi/sequence.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi::programs {

/// Why the device need not take the program; "" if it must.
std::string unclaimed(const OpenDevice& device, const sdk::ProgramView& program,
                      const uint32_t (&grid)[3]);

/// Why a program was not run: the device need not take it, or the model does not get through it.
struct LeftOut {
  std::string why;  ///< "" if it was run
  bool too_long = false;
};

/// Runs a step `program`, see cases/programs.hpp. Throws a Finding; an IllegalCase, before the
/// plugin is called, where the program is not one by the rules of program.h: sdk/program/verify.hpp
/// holds it against those that a text can break, and the model against races, indices outside and
/// threads that come alone where all must. Neither shares anything with what draws programs.
LeftOut run_program(const OpenDevice& device, const SequenceStep& step);
/// The same of a step whose program is made for an atom of the device (patterns/made_program.hpp).
LeftOut run_made(const OpenDevice& device, const SequenceStep& step);

}  // namespace tenon::conformance::abi::programs
