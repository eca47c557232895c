// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Edits of a case for the shrinker: each gives a smaller case, or nothing where it makes none.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "conformance/cases/case.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::shrink {

using NodeValues = std::map<const Node*, Array>;

/// The reference's value of every node.
NodeValues evaluate_all(const Case& test);

/// Only these outputs; what nothing reads any more goes away.
std::optional<Case> with_outputs(const Case& test, std::vector<NodeRef> outputs);
/// Nodes become inputs that hold the reference's values.
std::optional<Case> with_inputs_for(const Case& test, const std::vector<NodeRef>& nodes,
                                    const NodeValues& values, Builder& builder);
/// A node gives way to another of its dtype and shape.
std::optional<Case> with_replaced(const Case& test, const NodeRef& node, const NodeRef& other,
                                  Builder& builder);
/// Symbols become their values.
std::optional<Case> with_static_shapes(const Case& test, Builder& builder);
enum class Keep : uint8_t { kFirst, kLast };
/// Every axis of one size gets a smaller one; inputs keep their first or last elements.
std::optional<Case> with_smaller_size(const Case& test, int64_t size, int64_t smaller, Keep keep,
                                      Builder& builder);
/// One axis, and with it those that have to be as long.
std::optional<Case> with_smaller_axis(const Case& test, const NodeRef& node, size_t axis,
                                      int64_t smaller, Keep keep, Builder& builder);
std::optional<Case> with_smaller_symbol(const Case& test, const std::string& symbol, int64_t value);

/// A node in place of another, over new sources.
using Remake = std::function<NodeRef(const Node& old, const std::vector<NodeRef>& sources)>;
/// Every node made again, the params among them; inputs are cropped to fit.
std::optional<Case> rebuilt(const Case& test, const Remake& remake, Keep keep, Builder& builder);

/// The first or last block of an array.
Array crop(const Array& array, const std::vector<int64_t>& shape, Keep keep = Keep::kFirst);

}  // namespace tenon::conformance::shrink
