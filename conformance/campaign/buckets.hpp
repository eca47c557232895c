// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which failures are one: the same kind in the same structure, whatever the shapes and values.
#pragma once

#include <string>

#include "conformance/cases/reproducer.hpp"

namespace tenon::conformance::campaign {

/// Of a shrunk failure: status, kind, and its ops with dtypes and edges (or its calls).
/// `transform` is the step that layer 3 blames.
std::string bucket_of(const Reproducer& shrunk, const std::string& transform = {});

/// Does the case have every op of the shrunk one, in its dtype? Then it may well be the same.
bool contains_ops(const Case& test, const Case& shrunk);

/// "exp2 f32, mul f32": the ops of a graph with few of them; "" of any other case.
std::string few_ops(const Case& shrunk);

/// "add", "reduce.max", "sequence": what a file of the failure is named after.
std::string main_op(const Case& shrunk);

}  // namespace tenon::conformance::campaign
