// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes times: contenders in turn, several rounds, medians and spreads.
#pragma once

#include <functional>
#include <vector>

namespace tenon {
class Device;
}

namespace tenon::bench {

struct Timing {
  double seconds = 0;  ///< of one call: the median over the rounds
  double spread = 0;   ///< (third quartile - first) / median
  double least = 0;
};

/// Seconds that so many calls take.
using Contender = std::function<double(int calls)>;
Contender repeated(std::function<void()> once);
/// The same of calls that a device may still be at when they return: until all are done.
Contender queued(Device& device, std::function<void()> once);

/// Each round times every contender once, one after the other, so that what disturbs the machine
/// disturbs all. A contender is called as often as fills `slice` seconds, after one warming call.
std::vector<Timing> measure_calls(const std::vector<Contender>& contenders, int rounds = 9,
                                  double slice = 0.02);
std::vector<Timing> measure(const std::vector<std::function<void()>>& contenders, int rounds = 9,
                            double slice = 0.02);

Timing summary(std::vector<double> seconds);
double now();

}  // namespace tenon::bench
