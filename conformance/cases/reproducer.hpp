// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A case as one text file: the graph in the text form of core/ir, and above it comment lines with
// what else a replay needs. `tenon run` reads the same file and ignores the comments.
//
//   # tenon-conformance 1
//   # case 7:1234 add f32 flipped
//   # mode special
//   # oracles 77                          seed of the oracles that are drawn
//   # transforms split a0 4; unroll a0.i  one line a kernel; or transform_seed NUMBER
//   # size l2_bytes 4096                  of the device, other than it says
//   # steps 200                           the outputs but the first are the next step's inputs
//   # status FAIL mismatch
//   # text output 0 [3]: expected 1, got 2
//   # diff [3] 1 2
//   # backend cpu:0@threads=1
//   # plugin /home/me/libtenon_cpu.so     where it is none that is installed
//   # apart                               compared with a process of its own
//   # symbol n = 33
//   # input x0 f32 [2, 2] = 1.5 -0 0x7fc00000 3
//   graph conformance(%x0: f32[2, 2]) {
//
// A sequence of calls has "# sequence VERB NUMBERS" lines in place of inputs and graph.
//
// Cases that the same process runs first stand whole in the file, above the inputs of the one that
// fails: each line after "# after ", from the case's own "case" line to the end of its graph.
//
//   # after case 7:1201 add f32 contiguous
//   # after mode exact
//   # after input x0 f32 [2] = 1 2
//   # after graph conformance(%x0: f32[2]) {
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/case.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance {

struct Reproducer {
  Case test;
  Outcome outcome;      ///< what was seen when the file was written
  std::string backend;  ///< as one term of TENON_DEVICES
  /// Cases that the same process runs before it, unreported: they set the stage.
  std::vector<Case> after = {};
  /// The case passes in any process, and its bits have to be those of a process of its own.
  bool apart = false;
  std::string plugin = {};  ///< file of the backend; "" for one that is installed
};

std::string write_reproducer(const Reproducer& reproducer);
/// Throws kInvalid with origin, line and what was expected. Values and shapes fit the graph.
Reproducer parse_reproducer(std::string_view text, Builder& builder, std::string_view origin);

}  // namespace tenon::conformance
