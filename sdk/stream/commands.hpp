// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enqueues checked commands to a stream, for submissions and for graph capture.
#pragma once

#include "sdk/backend/host_device.hpp"
#include "sdk/stream/context.hpp"

namespace tenon::sdk {

/// Throws TN_ERROR_INVALID_ARGUMENT unless every executable was loaded for this device.
void check_launches(const HostWork& work, const StreamContext& context);

/// Enqueues in order. The device must be active. If it throws a Failure, some commands may be
/// enqueued.
void enqueue_commands(const HostWork& work, StreamContext& context, ApiStream* stream);

}  // namespace tenon::sdk
