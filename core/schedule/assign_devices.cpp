// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/assign_devices.hpp"

#include "core/ir/remap.hpp"
#include "core/schedule/contiguous_view.hpp"
#include "core/support/error.hpp"

namespace tenon::scheduling {
namespace {

int default_device(const ScheduleOptions& options) {
  for (size_t i = 0; i < options.devices.size(); ++i)
    if (options.devices[i].capabilities->compute) return static_cast<int>(i);
  fail(ErrorKind::kUnsupported, "[schedule] expected a device that computes, got only {}",
       options.devices[0].name);
}

/// A node's device by its operands alone; -1 for constants.
int own_device(const Node& node, const std::vector<int>& sources, const ScheduleOptions& options) {
  if (node.op == Op::COPY) return find_device(options, node.as<CopyAttr>().device);
  if (is_range(node) && sources[0] >= 0) return sources[0];
  const size_t first = node.op == Op::IF || node.op == Op::LOOP ? 1 : 0;
  int storage = -1;
  for (size_t i = first; i < sources.size(); ++i) {
    if (sources[i] < 0) continue;
    if (options.devices[sources[i]].capabilities->compute) return sources[i];
    storage = sources[i];
  }
  return storage < 0 && !is_command(node) ? -1 : default_device(options);
}

bool one_device(const Graph& graph, const ScheduleOptions& options) {
  if (options.devices.size() == 1) return true;
  for (const auto& [d, donated] : options.input_places)
    if (d != 0) return false;
  for (const NodeRef& n : topological(graph.outputs))
    if (n->op == Op::COPY) return false;
  return options.devices[0].capabilities->compute;
}

/// True for a source that needs no copy: what the host reads, and what a region captures.
bool stays_in_place(const Node& node, size_t source) {
  if (node.op == Op::IF) return true;
  return node.op == Op::LOOP &&
         (source == 0 || static_cast<int>(source) > node.as<LoopAttr>().carried);
}

/// True if this source needs a buffer on the node's device even if it is a leaf.
bool needs_buffer_here(const Node& node, size_t source) {
  if (node.op == Op::STORE) return source == 0;
  return node.op == Op::LOOP && source >= 1 && !stays_in_place(node, source);
}

/// Nodes without a device get that of their first consumer, or the default.
void settle(const std::vector<NodeRef>& nodes, const FlatMap<const Node*, int>& index,
            const ScheduleOptions& options, std::vector<int>& device) {
  for (size_t i = nodes.size(); i-- > 0;) {
    if (is_leaf(*nodes[i])) continue;
    if (device[i] < 0) device[i] = default_device(options);
    if (nodes[i]->op == Op::COPY) continue;
    for (const NodeRef& s : nodes[i]->sources) {
      int& of_source = device[index.at(s.get())];
      if (of_source < 0) of_source = device[i];
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (is_leaf(*nodes[i])) device[i] = -1;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t s = 0; s < nodes[i]->sources.size(); ++s) {
      int& of_source = device[index.at(nodes[i]->sources[s].get())];
      if (of_source < 0 && needs_buffer_here(*nodes[i], s)) of_source = device[i];
    }
  }
}

}  // namespace

int find_device(const ScheduleOptions& options, const std::string& name) {
  std::string known;
  for (size_t i = 0; i < options.devices.size(); ++i) {
    const std::string& device = options.devices[i].name;
    if (device == name || device.substr(0, device.find(':')) == name) return static_cast<int>(i);
    known += (known.empty() ? "" : ", ") + device;
  }
  fail(ErrorKind::kInvalid, "[copy] expected one of the devices {}, got \"{}\"", known, name);
}

std::vector<int> node_devices(const Graph& graph, const ScheduleOptions& options,
                              const std::vector<NodeRef>& nodes,
                              const FlatMap<const Node*, int>& index) {
  std::vector<int> device(nodes.size(), -1), of_sources;
  for (size_t p = 0; p < graph.params.size(); ++p) {
    if (const int* i = index.find(graph.params[p].get()))
      device[*i] = options.input_places.empty() ? 0 : options.input_places[p].device;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (is_param(*nodes[i]) || is_leaf(*nodes[i])) continue;
    of_sources.clear();
    for (const NodeRef& s : nodes[i]->sources) of_sources.push_back(device[index.at(s.get())]);
    device[i] = own_device(*nodes[i], of_sources, options);
  }
  settle(nodes, index, options, device);
  return device;
}

Graph assign_devices(const Graph& graph, const ScheduleOptions& options, Builder& builder,
                     int result_device) {
  TN_REQUIRE(!options.devices.empty(), "[schedule] expected at least one device, got none");
  TN_REQUIRE(options.input_places.empty() || options.input_places.size() == graph.params.size(),
             "[schedule] expected a device for each of {} inputs, got {}", graph.params.size(),
             options.input_places.size());
  for (const auto& [d, donated] : options.input_places)
    TN_REQUIRE(d >= 0 && d < static_cast<int>(options.devices.size()),
               "[schedule] expected a device number below {}, got {}", options.devices.size(), d);
  if (result_device <= 0 && one_device(graph, options)) return graph;
  const std::vector<NodeRef> nodes = topological(graph.outputs);
  FlatMap<const Node*, int> index;
  for (size_t i = 0; i < nodes.size(); ++i) index.try_emplace(nodes[i].get(), static_cast<int>(i));
  const std::vector<int> device = node_devices(graph, options, nodes, index);
  std::vector<NodeRef> placed(nodes.size());
  const auto moved_to = [&](int source, int target) {
    if (device[source] == target || device[source] < 0 || target < 0) return placed[source];
    return builder.copy(placed[source], options.devices[target].name);
  };
  // A range of a memory-only device's buffer has no buffer of its own: it is copied to its user.
  const auto is_stored_view = [&](int i) {
    return nodes[i]->op == Op::VIEW && device[i] >= 0 &&
           !options.devices[device[i]].capabilities->compute;
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i];
    std::vector<NodeRef> sources;
    if (node.op == Op::COPY) {
      const int source = index.at(node.sources[0].get());
      placed[i] = is_leaf(*nodes[source]) || is_stored_view(source)
                      ? builder.copy(placed[source], node.as<CopyAttr>().device)
                      : moved_to(source, device[i]);
      continue;
    }
    for (size_t s = 0; s < node.sources.size(); ++s) {
      const int source = index.at(node.sources[s].get());
      const bool stays = is_leaf(*nodes[source])
                             ? !needs_buffer_here(node, s)
                             : !is_stored_view(source) && stays_in_place(node, s);
      sources.push_back(stays ? placed[source] : moved_to(source, device[i]));
    }
    placed[i] = with_sources(nodes[i], std::move(sources), builder);
  }
  Graph out = graph;
  for (NodeRef& o : out.outputs) {
    const int node = index.at(o.get());
    if (is_leaf(*nodes[node]) && result_device > 0) {
      o = builder.copy(placed[node], options.devices[result_device].name);
    } else {
      const bool is_result = result_device < 0 && is_stored_view(node);
      o = moved_to(node, is_result ? default_device(options) : result_device);
    }
  }
  return out;
}

}  // namespace tenon::scheduling
