// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/compile/pass.hpp"

namespace tenon {
namespace {

constexpr PassInfo kPasses[] = {
    {"inline", "the graph with the nodes of its calls in their place"},
    {"rules", "the graph after the application's rules"},
    {"precision", "the graph with what its contractions may be computed in"},
    {"simplify", "a graph of fewer nodes"},
    {"schedule", "kernels, copies and buffers"},
    {"legalise", "a kernel's graph of what its device has"},
    {"build", "its loop tree"},
    {"choose", "the tree after its transforms"},
    {"emit", "the program"},
    {"pack", "the program with narrow elements in words"},
    {"split", "the program with wide integers as pairs of words"},
};

}  // namespace

std::span<const PassInfo> all_passes() { return kPasses; }

const PassInfo& pass_info(Pass pass) { return kPasses[static_cast<size_t>(pass)]; }

}  // namespace tenon
