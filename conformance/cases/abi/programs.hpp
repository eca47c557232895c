// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs, handed to a plugin as they are: what the core would never lower to is tried
// too. They are legal by construction: they end, each thread writes its own elements, shared ones
// only between barriers, nothing is read before it is written, and every value that can be seen is
// the same on each device that keeps its word.
//
// A step `program X Y Z SEED FLAGS LAUNCHES` has the grid, the seed of the contents of its buffers
// and scalars (program_data.hpp), flags, and how often it is launched, each time with contents of
// the next seed (without it once, or twice with kAgain); its text is the program, whose buffers all
// have a count.
#pragma once

#include "conformance/cases/abi/sequence.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi {

/// Flags of a step.
enum : int64_t {
  kReloaded = 1,  ///< the executable is saved and loaded first
  kAgain = 2,     ///< launched once more, with contents of the next seed
  kTwin = 4,      ///< beside a program that is another but for one thing (abi/programs/twin.hpp)
  kApart = 8,     ///< launches in submissions that wait for the host together, not in one
  kSaved = 16,    ///< the executable is saved before it runs, and again before the last launch
  kTold = 32      ///< the same, asked for each of its texts
};

/// `is_single`: one thread a workgroup, as some devices have no more.
SequenceStep draw_program(Choices& choices, bool is_single = false);
/// Steps of one to four programs, the first of which is single.
Sequence draw_programs(Choices& choices);

/// Of a TOOL_ERROR: the program is none, or has no certain meaning.
inline constexpr std::string_view kProgramKind = "program";

inline bool is_program(const SequenceStep& step) { return step.verb == "program"; }
/// A program that is made for the device (patterns/made_program.hpp).
bool is_made_program(const SequenceStep& step);
/// Whether it is made of programs alone, of both kinds.
bool is_programs(const Sequence& sequence);
/// Of a step. Throws kInvalid.
sdk::Program program_of(const SequenceStep& step);

}  // namespace tenon::conformance::abi
