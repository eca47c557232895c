// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/device/device.hpp"

namespace tenon::bench {
namespace {

constexpr int kMostCalls = 100000;
// Threads of a contender's pool may spin on for a while: the next one starts when they sleep.
constexpr std::chrono::milliseconds kRest{3};

}  // namespace

double now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

Timing summary(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  const size_t n = seconds.size();
  const double median = n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
  return {median, median > 0 ? (seconds[n * 3 / 4] - seconds[n / 4]) / median : 0, seconds[0]};
}

Contender repeated(std::function<void()> once) {
  return [once = std::move(once)](int calls) {
    once();  // wakes its threads
    const double begin = now();
    for (int i = 0; i < calls; ++i) once();
    return now() - begin;
  };
}

Contender queued(Device& device, std::function<void()> once) {
  return [&device, once = std::move(once)](int calls) {
    once();
    device.synchronize();
    const double begin = now();
    for (int i = 0; i < calls; ++i) once();
    device.synchronize();
    return now() - begin;
  };
}

std::vector<Timing> measure_calls(const std::vector<Contender>& contenders, int rounds,
                                  double slice) {
  std::vector<int> calls;
  for (const Contender& contender : contenders) {
    const double once = std::max(1e-9, contender(1));
    calls.push_back(std::clamp(static_cast<int>(slice / once), 1, kMostCalls));
  }
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t c = 0; c < contenders.size(); ++c) {
      std::this_thread::sleep_for(kRest);
      times[c].push_back(contenders[c](calls[c]) / calls[c]);
    }
  }
  std::vector<Timing> out;
  for (auto& t : times) out.push_back(summary(std::move(t)));
  return out;
}

std::vector<Timing> measure(const std::vector<std::function<void()>>& contenders, int rounds,
                            double slice) {
  std::vector<Contender> all;
  for (const auto& contender : contenders) all.push_back(repeated(contender));
  return measure_calls(all, rounds, slice);
}

}  // namespace tenon::bench
