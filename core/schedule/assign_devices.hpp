// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which device runs each node. A node runs where its first placed operand lives, if that device
// computes; other operands are copied there. Nodes without inputs follow their consumers.
#pragma once

#include <string>
#include <vector>

#include "core/ir/build.hpp"
#include "core/schedule/schedule.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::scheduling {

/// Device of each node of a placed graph, an index into options.devices. -1: anywhere, as are
/// constants that need no buffer.
std::vector<int> node_devices(const Graph& graph, const ScheduleOptions& options,
                              const std::vector<NodeRef>& nodes,
                              const FlatMap<const Node*, int>& index);

/// The same graph with a COPY on each edge that crosses devices, and none that does not.
/// `result_device` >= 0: the outputs end there. Throws kInvalid for an unknown device.
Graph assign_devices(const Graph& graph, const ScheduleOptions& options, Builder& builder,
                     int result_device);

/// "cpu:0" or, for the first of a backend, "cpu".
int find_device(const ScheduleOptions& options, const std::string& name);

}  // namespace tenon::scheduling
