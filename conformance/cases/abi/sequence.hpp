// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 4: a sequence of calls of the plugin ABI, or one named check of its rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/choices.hpp"

namespace tenon::conformance::abi {

/// One call with its numbers, which are requests: what an object is called (device D, slab M,
/// executable E, timeline T: slots, counted modulo how many there are), and offsets, sizes and
/// counts, cut down to what is there. A step that is not possible in the state before it is left
/// out. So every part of a sequence is a sequence, and every number may be lowered.
///
///   device D INDEX                 opens device INDEX of the plugin (D is 1 or 2; 0 is open)
///   allocate M D SPACE BYTES       free M
///   import M D BYTES               host memory as a slab, where the device takes it
///   write M OFFSET BYTES SEED      by a map, or through a slab that can be mapped
///   read M OFFSET BYTES            and compares; 0 bytes: to the end
///   map M OFFSET BYTES             unmap M
///   fill M OFFSET BYTES WIDTH PATTERN
///   copy M OFFSET M OFFSET BYTES   destination first
///   compile.KIND E D DTYPE CONSTANT THREADS SWAPPED NAME
///   destroy E                      reload E: saved, loaded, and the first one destroyed
///   damage E SEED                  saved, damaged, and loaded, which must be refused
///   launch E M OFFSET M OFFSET COUNT SCALAR     output first
///   submit QUEUE T GATED SIGNALS   what came since the last one; gated: held back until `raise`
///   raise                          the host raises what gated submissions wait for
///   peek MICROSECONDS              waits, then no timeline may be ahead of its work
///   await                          waits for all work
///   timeline T D VALUE             a fresh timeline
///   race.compile D DTYPE CONSTANT THREADS       the same and different programs at once
///   race.submit D THREADS ROUNDS   race.wait D
///   huge D                         bytes beyond 2 GiB and 4 GiB of one slab
///   end SEED                       the order in which all is destroyed
///   program X Y Z SEED FLAGS LAUNCHES   a grid; the program is the step's text, see programs.hpp
///   matrix ATOM ROW SEED           a program of an atom that the device has; so tiles, dot
struct SequenceStep {
  std::string verb;
  std::vector<int64_t> numbers;
  std::string text = {};  ///< of `program`: lines, printed after "|" below the step
};

/// How many slots there are.
inline constexpr int64_t kDeviceSlots = 3, kSlabSlots = 8, kExecutableSlots = 6, kTimelineSlots = 4;
/// Kinds of programs, "compile.add" and so on.
const std::vector<std::string>& program_kinds();

struct Sequence {
  std::string check;  ///< a named check of the ABI's rules; "" for steps
  std::vector<SequenceStep> steps;
};

/// Names of the checks, in a fixed order: cells "api.<name>". From the rows of abi/checks.
const std::vector<std::string>& abi_checks();

Sequence draw_sequence(Choices& choices);

/// One line a step and of its text, and back. Parsing throws kInvalid with the line.
std::string print(const Sequence& sequence);
void parse_line(const std::string& line, Sequence& sequence);
Sequence parse_sequence(std::string_view text);

}  // namespace tenon::conformance::abi
