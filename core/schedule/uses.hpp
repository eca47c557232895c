// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that steps read and write, and the lifetimes that follow.
#pragma once

#include <vector>

#include "core/schedule/schedule.hpp"

namespace tenon::scheduling {

std::vector<int> buffers_read(const Step& step);
std::vector<int> buffers_written(const Step& step);

/// Inputs whose buffers some step overwrites: donated ones that were used so.
std::vector<int> inputs_written(const Schedule& schedule);

/// Steps from the first write to the last use, inclusive; first > last: never used.
struct Lifetime {
  int first = 1 << 30;
  int last = -1;
};

std::vector<Lifetime> lifetimes(const Schedule& schedule);

}  // namespace tenon::scheduling
