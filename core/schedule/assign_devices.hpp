// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assigns nodes to devices. A node runs on the device of its first operand that has one, if that
// device computes; other operands are copied there. Nodes without inputs follow their consumers.
#pragma once

#include <string>
#include <vector>

#include "core/ir/build.hpp"
#include "core/schedule/schedule.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::scheduling {

/// Device of each node of a graph that assign_devices made: an index into options.devices, or -1
/// for constants that need no buffer.
std::vector<int> node_devices(const Graph& graph, const ScheduleOptions& options,
                              const std::vector<NodeRef>& nodes,
                              const FlatMap<const Node*, int>& index);

/// The graph with a COPY on exactly the edges that cross devices. If `result_device` >= 0, the
/// outputs end there. Throws kInvalid for an unknown device.
Graph assign_devices(const Graph& graph, const ScheduleOptions& options, Builder& builder,
                     int result_device);

/// Index of "cpu:0", or of the first device of the backend "cpu". Throws kInvalid if there is none.
int find_device(const ScheduleOptions& options, const std::string& name);

}  // namespace tenon::scheduling
