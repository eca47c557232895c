// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tiny case whose answer is known: says whether a device still works after a crash, a hang or a
// loss.
#pragma once

#include <string>
#include <vector>

#include "conformance/judge/harness.hpp"

namespace tenon::conformance {

/// A sum of four elements in the first dtype that the device adds. The "probe" line of wire.hpp:
/// "ok", "wrong" with a sentence, or "none" if the device adds nothing.
std::vector<std::string> known_answer(Harness& harness, Builder& builder);

}  // namespace tenon::conformance
