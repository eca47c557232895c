// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Puts checked commands into a stream: the same for a submission and for the recording of a graph.
#pragma once

#include "sdk/backend/host_device.hpp"
#include "sdk/stream/context.hpp"

namespace tenon::sdk {

/// Whether every launch is of an executable for this device; throws TN_ERROR_INVALID_ARGUMENT.
void check_launches(const HostWork& work, const StreamContext& context);

/// In order. The device is active. Throws Failure; then a part may be in the stream.
void enqueue_commands(const HostWork& work, StreamContext& context, ApiStream* stream);

}  // namespace tenon::sdk
