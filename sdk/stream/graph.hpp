// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recorded command graph: what enqueue_commands() does, captured from a stream.
#pragma once

#include "sdk/stream/device.hpp"

namespace tenon::sdk {

class StreamGraph {
 public:
  /// `work` was read and checked by the device. Throws TN_ERROR_UNSUPPORTED where the driver has no
  /// graphs.
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
