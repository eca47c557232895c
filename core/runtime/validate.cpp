// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TENON_VALIDATE=1: every kernel runs alone, and its outputs are compared with the reference.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/runtime/run_plan.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-11;
    case DType::kBF16:
      return 0x1p-8;
    case DType::kF32:
      return 0x1p-24;
    case DType::kF64:
      return 0x1p-53;
    case DType::kF8E4M3:
      return 0x1p-4;
    case DType::kF8E5M2:
      return 0x1p-3;
    default:
      return 0;
  }
}

/// How many roundings an output may be away: one or a few for each op on its way, and for each
/// term of a sum. `magnitude` is the largest intermediate, since sums cancel.
struct Tolerance {
  bool exact = true;
  double relative = 0;
  double magnitude = 0;
};

int64_t reduced_count(const Node& node, const SymbolValues& symbols) {
  int64_t count = 1;
  for (const int axis : node.as<ReduceAttr>().axes)
    count *= node.sources[0]->shape[static_cast<size_t>(axis)].evaluate(symbols);
  return std::max<int64_t>(count, 1);
}

bool rounds(const Node& node) {
  if (!is_float(node.dtype)) return false;
  switch (node.op) {
    case Op::CAST:
      return is_float(node.sources[0]->dtype) || !node.as<CastAttr>().bits;
    case Op::WHERE:
    case Op::MAX:
    case Op::MIN:
    case Op::NEG:
      return false;
    case Op::REDUCE:
      return node.as<ReduceAttr>().op != Op::MAX && node.as<ReduceAttr>().op != Op::MIN;
    default:
      return is_elementwise(node.op);
  }
}

Tolerance tolerance_of(const Graph& graph, const NodeRef& output, const std::vector<Array>& inputs,
                       const SymbolValues& symbols) {
  Tolerance result;
  for (const NodeRef& node : topological({output})) {
    if (!rounds(*node)) continue;
    result.exact = false;
    const double steps =
        node->op == Op::REDUCE ? static_cast<double>(reduced_count(*node, symbols)) : 8;
    const DType dtype = node->op == Op::REDUCE && is_float(node->as<ReduceAttr>().accumulator)
                            ? node->as<ReduceAttr>().accumulator
                            : node->dtype;
    result.relative += steps * unit_roundoff(dtype);
  }
  if (result.exact) return result;
  result.relative += 2 * unit_roundoff(output->dtype);
  // Largest finite intermediate: errors of what is added there survive cancellation.
  Graph all = graph;
  all.outputs.clear();
  for (const NodeRef& node : topological({output}))
    if (is_float(node->dtype) && node->op != Op::VIEW) all.outputs.push_back(node);
  all.output_names.assign(all.outputs.size(), "");
  for (const Array& array : evaluate(all, inputs, symbols)) {
    for (int64_t i = 0; i < array.count(); ++i) {
      const double value = std::abs(array.at(i).as_double());
      if (std::isfinite(value)) result.magnitude = std::max(result.magnitude, value);
    }
  }
  return result;
}

/// Largest absolute error; infinity where one is NaN or infinite and the other is not the same.
double max_error(const Array& got, const Array& expected, int64_t& worst) {
  double largest = 0;
  worst = -1;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const Scalar a = got.at(i), b = expected.at(i);
    if (a == b) continue;
    double error = 1;
    if (is_float(a.dtype)) {
      const double x = a.as_double(), y = b.as_double();
      if ((std::isnan(x) && std::isnan(y)) || x == y) continue;
      error = std::abs(x - y);
      if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    } else {
      error = std::max(1.0, std::abs(a.as_double() - b.as_double()));
    }
    if (error > largest) {
      largest = error;
      worst = i;
    }
  }
  return largest;
}

Array read_array(const Node& node, const Location& at, uint64_t bytes,
                 const SymbolValues& symbols) {
  Array array;
  array.dtype = node.dtype;
  for (const Dim& dim : node.shape) array.shape.push_back(dim.evaluate(symbols));
  array.bytes.resize(bytes);
  if (bytes) at.buffer->device().read(*at.buffer, at.offset, array.bytes.data(), bytes);
  return array;
}

void compare(const KernelCall& call, size_t output, const Array& got, const Array& expected,
             const std::vector<Array>& inputs, const SymbolValues& symbols,
             const std::string& device) {
  int64_t worst = -1;
  const double error = max_error(got, expected, worst);
  if (worst < 0) return;
  const Tolerance tolerance = tolerance_of(call.graph, call.graph.outputs[output], inputs, symbols);
  const double allowed = tolerance.exact ? 0 : tolerance.relative * tolerance.magnitude;
  if (error <= allowed) return;
  fail(ErrorKind::kInternal,
       "[validate] kernel {} on {}, output {}, element {}: expected {}, got {} (error {:.3g}, "
       "allowed "
       "{:.3g})",
       call.graph.name, device, output, worst, to_string(expected.at(worst)),
       to_string(got.at(worst)), error, allowed);
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
  const std::vector<Array> expected = evaluate(call.graph, inputs, symbols);
  for (size_t o = 0; o < call.outputs.size(); ++o) {
    const int b = call.outputs[o];
    const Array got =
        read_array(*call.graph.outputs[o], frame.where[static_cast<size_t>(b)], bytes(b), symbols);
    compare(call, o, got, expected[o], inputs, symbols, device.id());
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
