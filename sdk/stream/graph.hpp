// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A command graph, captured from a stream while enqueue_commands() runs.
#pragma once

#include "sdk/stream/device.hpp"

namespace tenon::sdk {

class StreamGraph {
 public:
  /// `work` is checked by the device. Throws TN_ERROR_UNSUPPORTED if the driver has no graphs.
  StreamGraph(StreamDevice& device, const HostWork& work);
  ~StreamGraph();
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;

  StreamDevice& device() const { return device_; }
  ApiGraphExec* handle() const { return exec_; }

 private:
  StreamDevice& device_;
  ApiGraphExec* exec_ = nullptr;
};

}  // namespace tenon::sdk
