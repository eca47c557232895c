// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/kernel_times.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/support/printable.hpp"

namespace tenon {
namespace {

double over(double amount, double by) { return by > 0 ? amount / by : 0; }

/// Share of the roofline: the larger of the shares of bytes and operations a second.
double share_of(const KernelTime& time, const DeviceRates& rates) {
  return std::max(over(over(time.flops, time.seconds), rates.flops_per_second),
                  over(over(time.bytes, time.seconds), rates.bytes_per_second));
}

std::string rate_text(double per_second) {
  return per_second > 0 ? fmt::format("{:.1f} G", per_second / 1e9) : "an unknown number of ";
}

}  // namespace

void KernelTimes::add(const Launch& launch) {
  const std::lock_guard lock(mutex_);
  KernelTime& time = kernels_[{launch.graph, launch.kernel, launch.device}];
  if (time.launches == 0) {
    time.graph = launch.graph;
    time.kernel = launch.kernel;
    time.device = launch.device;
    time.work = launch.work.text;
    time.first_seconds = launch.seconds;
    time.by_device = launch.by_device;
  }
  if (time.launches < 2) {
    time.seconds = time.flops = time.bytes = 0;
    time.least_seconds = launch.seconds;
  }
  ++time.launches;
  time.seconds += launch.seconds;
  time.least_seconds = std::min(time.least_seconds, launch.seconds);
  time.flops += launch.work.flops;
  time.bytes += launch.work.bytes;
}

bool KernelTimes::asks_for_rates(const std::string& device) {
  const std::lock_guard lock(mutex_);
  return rates_.try_emplace(device, DeviceRates{.device = device}).second;
}

void KernelTimes::set_rates(const DeviceRates& rates) {
  const std::lock_guard lock(mutex_);
  rates_[rates.device] = rates;
}

KernelProfile KernelTimes::profile() const {
  const std::lock_guard lock(mutex_);
  KernelProfile out;
  for (const auto& [device, rates] : rates_) out.devices.push_back(rates);
  for (const auto& [key, time] : kernels_) {
    out.kernels.push_back(time);
    if (const auto rates = rates_.find(time.device); rates != rates_.end())
      out.kernels.back().share_of_limit = share_of(time, rates->second);
  }
  std::ranges::stable_sort(out.kernels, std::greater(), &KernelTime::seconds);
  return out;
}

std::string to_string(const KernelProfile& profile) {
  std::string text;
  for (const DeviceRates& rates : profile.devices)
    text += fmt::format(
        "{}: kernels alone, each waited for, by the clock of the {}; an empty one takes {:.1f} us, "
        "a copy moves {}B/s, a matrix product does {}FLOP/s\n",
        printable_line(rates.device), rates.by_device ? "device" : "host",
        1e6 * rates.launch_seconds, rate_text(rates.bytes_per_second),
        rate_text(rates.flops_per_second));
  double all = 0;
  for (const KernelTime& time : profile.kernels) all += time.seconds;
  text += fmt::format("{:>6} {:>8} {:>9} {:>10} {:>10} {:>9} {:>8} {:>8}  {}\n", "share",
                      "launches", "first ms", "others ms", "least us", "GFLOP/s", "GB/s",
                      "of limit", "device, function, kernel: what it does");
  for (const KernelTime& time : profile.kernels)
    text += fmt::format(
        "{:>5.1f}% {:>8} {:>9.3f} {:>10.3f} {:>10.1f} {:>9.1f} {:>8.2f} {:>8.2f}  {}, {}, {}: {}\n",
        100 * over(time.seconds, all), time.launches, 1e3 * time.first_seconds, 1e3 * time.seconds,
        1e6 * time.least_seconds, over(time.flops, time.seconds) / 1e9,
        over(time.bytes, time.seconds) / 1e9, time.share_of_limit, printable_line(time.device),
        printable_line(time.graph), printable_line(time.kernel), printable_line(time.work));
  return text;
}

}  // namespace tenon
