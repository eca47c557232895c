// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each step reads and writes, and so how long each buffer lives.
#pragma once

#include <vector>

#include "core/schedule/schedule.hpp"

namespace tenon::scheduling {

std::vector<int> buffers_read(const Step& step);
std::vector<int> buffers_written(const Step& step);

/// Which inputs' buffers some step writes: those that were donated, and used.
std::vector<int> inputs_written(const Schedule& schedule);

/// Steps from the first write to the last use, inclusive; first > last: never used.
struct Lifetime {
  int first = 1 << 30;
  int last = -1;
};

std::vector<Lifetime> lifetimes(const Schedule& schedule);

}  // namespace tenon::scheduling
