// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tiny case whose answer is known: says whether a device still works after a crash, a hang or a
// loss.
#pragma once

#include "conformance/judge/harness.hpp"
#include "conformance/worker/wire.hpp"

namespace tenon::conformance::worker {

/// A sum of four elements in the first dtype that the device adds, if there is one.
Probed known_answer(judge::Harness& harness, Builder& builder);

}  // namespace tenon::conformance::worker
