// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <thread>

namespace tenon::planted {

/// What answers are late by in the variant slow_answers.
inline void slow_down() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace tenon::planted
