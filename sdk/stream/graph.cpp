// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Capture, and the tables of tenon/ext.
#include "sdk/stream/graph.hpp"

#include "sdk/stream/commands.hpp"

namespace tenon::sdk {
namespace {

/// Captures on a separate stream, so that submissions continue meanwhile.
ApiGraph* capture(const HostWork& work, StreamContext& context) {
  const StreamApi& api = context.api();
  ApiStream* stream = nullptr;
  context.check(api.stream_create(&stream, kApiStreamNonBlocking), "graph stream");
  ApiGraph* graph = nullptr;
  try {
    context.check(api.capture_begin(stream, kApiCaptureRelaxed), "graph capture");
    try {
      enqueue_commands(work, context, stream);
    } catch (const Failure&) {
      if (api.capture_end(stream, &graph) == 0 && graph) api.graph_destroy(graph);
      throw;
    }
    context.check(api.capture_end(stream, &graph), "graph capture");
  } catch (const Failure&) {
    api.stream_destroy(stream);
    throw;
  }
  api.stream_destroy(stream);
  return graph;
}

StreamGraph& graph_of(tn_graph* graph) { return *reinterpret_cast<StreamGraph*>(graph); }

int32_t graph_record(tn_device* device, uint32_t command_count, uint32_t command_stride,
                     const tn_command* commands, tn_graph** out_graph, tn_error* error) {
  return guarded(error, [&] {
    require(device && out_graph, "graph record: expected a device and out_graph, got null");
    tn_submission from = TN_INIT(tn_submission);
    from.command_count = command_count;
    from.command_stride = command_stride;
    from.commands = commands;
    const Submission submission(&from);
    submission.check();
    auto graph = static_cast<StreamDevice&>(*device_of(device)).record(submission);
    *out_graph = reinterpret_cast<tn_graph*>(graph.release());
  });
}

int32_t graph_launch(tn_graph* graph, const tn_submission* submission, tn_error* error) {
  return guarded(error, [&] {
    require(graph && submission, "graph launch: expected a graph and a submission, got null");
    const Submission view(submission);
    view.check();
    graph_of(graph).device().launch(graph_of(graph), view);
  });
}

void graph_destroy(tn_graph* graph) {
  if (graph) delete &graph_of(graph);
}

int32_t peers_can_copy(tn_device* destination, tn_device* source) {
  int32_t answer = 0;
  guarded(nullptr, [&] {
    require(destination && source, "can_copy: expected two devices, got null");
    auto& to = static_cast<StreamDevice&>(*device_of(destination));
    answer = to.can_copy_from(static_cast<StreamDevice&>(*device_of(source)));
  });
  return answer;
}

}  // namespace

StreamGraph::StreamGraph(StreamDevice& device, const HostWork& work) : device_(device) {
  StreamContext& context = *device.context();
  const StreamApi& api = context.api();
  if (!api.capture_begin || !api.graph_instantiate) {
    throw Failure(TN_ERROR_UNSUPPORTED, "graph record: expected a driver that has graphs");
  }
  ApiGraph* graph = capture(work, context);
  const int code = api.graph_instantiate(&exec_, graph, 0);
  api.graph_destroy(graph);
  context.check(code, "graph instantiate");
}

StreamGraph::~StreamGraph() {
  StreamContext& context = *device_.context();
  const ActiveDevice active = context.activate_to_destroy();
  if (active) context.api().graph_exec_destroy(exec_);
}

const tn_graphs& stream_graphs() {
  static const tn_graphs table = [] {
    tn_graphs t = TN_INIT(tn_graphs);
    t.record = graph_record;
    t.launch = graph_launch;
    t.destroy = graph_destroy;
    return t;
  }();
  return table;
}

const tn_peers& stream_peers() {
  static const tn_peers table = [] {
    tn_peers t = TN_INIT(tn_peers);
    t.can_copy = peers_can_copy;
    return t;
  }();
  return table;
}

}  // namespace tenon::sdk
