// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TENON_VALIDATE=1: every kernel runs alone, and its outputs must lie in the intervals that the
// reference gives for the profile of the device.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/interval/interval.hpp"
#include "core/ir/text/text.hpp"
#include "core/runtime/run_plan.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

Array read_array(const Node& node, const Location& at, uint64_t bytes,
                 const SymbolValues& symbols) {
  Array array;
  array.dtype = node.dtype;
  for (const Dim& dim : node.shape) array.shape.push_back(dim.evaluate(symbols));
  array.bytes.resize(bytes);
  if (bytes) at.buffer->device().read(*at.buffer, at.offset, array.bytes.data(), bytes);
  return array;
}

/// Absolute error: 0 for equal bits, infinity if just one is NaN or any value is infinite.
double error_of(const Scalar& got, const Scalar& expected) {
  if (got == expected) return 0;
  const double error = std::abs(got.as_double() - expected.as_double());
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

void compare(const KernelCall& call, size_t output, const Array& got, const IntervalArray& expected,
             const Profile& profile, const std::string& device) {
  int64_t first = -1, wrong = 0;
  double largest = 0;
  for (int64_t i = 0; i < got.count(); ++i) {
    if (accepts(expected, i, got.at(i), profile)) continue;
    if (first < 0) first = i;
    ++wrong;
    largest = std::max(largest, error_of(got.at(i), expected.value.at(i)));
  }
  if (wrong == 0) return;
  const Interval range = expected.at(first);
  fail(ErrorKind::kInternal,
       "[validate] kernel {} on {}, output {}, element {}: expected {} (of [{:.9g}, {:.9g}]), got "
       "{}; {} of {} elements differ, by up to {:.3g}\n{}",
       call.graph.name, device, output, first, to_string(expected.value.at(first)), range.low,
       range.high, to_string(got.at(first)), wrong, got.count(), largest, print(call.graph));
}

void run_one(const Layout& layout, const Frame& frame, const KernelCall& call, Device& device,
             const tn_command* command, const SymbolValues& symbols) {
  const auto bytes = [&](int b) {
    return static_cast<uint64_t>(layout.memory.bytes[static_cast<size_t>(b)]);
  };
  std::vector<Array> inputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const int b = call.inputs[i];
    inputs.push_back(
        read_array(*call.graph.params[i], frame.where[static_cast<size_t>(b)], bytes(b), symbols));
  }
  if (command) device.submit({*command}, std::span<Buffer* const>(frame.used));
  device.synchronize();
  const Profile profile = Profile::of(device.capabilities());
  const std::vector<IntervalArray> expected =
      evaluate_intervals(call.graph, inputs, symbols, profile);
  for (size_t o = 0; o < call.outputs.size(); ++o) {
    const int b = call.outputs[o];
    const Array got =
        read_array(*call.graph.outputs[o], frame.where[static_cast<size_t>(b)], bytes(b), symbols);
    compare(call, o, got, expected[o], profile, device.id());
  }
}

}  // namespace

void run_validated(const SchedulePlan& plan, const Layout& layout, Frame& frame, size_t s,
                   const SymbolValues& symbols) {
  const Segment& segment = layout.segments[s];
  Device& device = plan.device(segment.device);
  for (int i = segment.first; i < segment.first + segment.count; ++i) {
    const int position = frame.command_of[static_cast<size_t>(i)];
    const tn_command* command =
        position < 0 ? nullptr : &frame.commands[s][static_cast<size_t>(position)];
    const auto& call = plan.schedule().steps[static_cast<size_t>(i)].call;
    if (const auto* kernel = std::get_if<KernelCall>(&call)) {
      run_one(layout, frame, *kernel, device, command, symbols);
    } else if (command) {
      device.submit({*command}, std::span<Buffer* const>(frame.used));
    }
  }
}

}  // namespace tenon
