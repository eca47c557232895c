// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers a graph given as text, runs it in the interpreter and compares with the reference.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/compile/compiler.hpp"
#include "core/ir/text/text.hpp"
#include "core/kernel/transforms/random_transforms.hpp"
#include "tests/lower/interpreter.hpp"

namespace tenon::test {

struct Case {
  std::string graph;
  SymbolValues symbols = {};
  std::vector<int> alias = {};
  double tolerance = 0;  ///< relative; 0: equal bits. Inputs are small integers.
  int64_t high = 4;      ///< inputs are in [-3, high)
  std::vector<int> sections = {};
};

/// Values of the names in a text, as "$Q" of "8".
using Names = std::vector<std::pair<std::string, std::string>>;
/// The text with each name's value in its place, in the order of the names.
std::string filled(std::string text, const Names& names);
/// Of one letter each: "$n" and so on.
std::string filled(std::string text, const std::map<char, int64_t>& numbers);

/// How often `part` occurs in a text, overlapping ones too.
size_t count_of(std::string_view text, std::string_view part);

Capabilities cpu_like();     ///< 64-byte vectors, no workgroups
Capabilities dots_like();    ///< and dot products of bf16, and of u8 by i8
Capabilities gpu_like();     ///< workgroups, shared memory, no vectors
Capabilities scalar_like();  ///< neither
Capabilities everything();   ///< both

// Shapes of real devices, with small limits where those are what matters.
Capabilities warps_like();   ///< subgroups of 32, short vectors, matrix atoms, asynchronous copies
Capabilities groups_like();  ///< and an atom of two subgroups, on tiles in pieces
Capabilities waves_like();   ///< subgroups of 64, square atoms
Capabilities software_like();  ///< threads are lanes of the processor, 8 a subgroup
Capabilities web_like();       ///< 32-bit indices, few bindings, packed storage, no subgroups

/// A kernel's graph lowered with a written list, or by templates where that is empty and they
/// shall choose.
LoweredKernel lower(const Graph& legal, const Capabilities& capabilities,
                    const std::string& transforms, bool by_templates,
                    const std::vector<int>& alias = {}, const std::vector<int>& sections = {});

/// Empty if outputs agree; else what differs. Throws what lowering and running throw.
std::string difference(const Case& c, const Capabilities& capabilities,
                       const std::string& transforms, bool by_templates, uint32_t seed = 1);

/// The same of a list that was drawn: also empty where the device does not do what it asks for; the
/// message of any other refusal.
std::string difference_of_drawn(const Case& c, const Capabilities& capabilities,
                                const std::string& transforms, uint32_t seed);

/// Draws below a number.
using Below = std::function<uint32_t(uint32_t)>;
Below below_of(std::mt19937& random);
/// What the seeds from 1 on draw for a graph of one kernel, as text.
std::vector<std::string> random_lists(const std::string& graph, uint32_t seeds,
                                      const RandomTransformOptions& options = {});

/// Graphs that meet every statement and leaf of a loop tree.
const std::vector<std::pair<std::string, Case>>& representative_cases();
/// Of these the convolutions.
std::vector<std::pair<std::string, Case>> window_cases();

}  // namespace tenon::test
