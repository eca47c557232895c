// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/lower/harness.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/support/error.hpp"

namespace tenon::test {
namespace {

Array random_array(const Node& node, const SymbolValues& symbols, std::mt19937& random,
                   int64_t high) {
  std::vector<int64_t> shape;
  for (const Dim& d : node.shape) shape.push_back(d.evaluate(symbols));
  Array array = Array::zeros(node.dtype, shape);
  std::uniform_int_distribution<int64_t> pick(-3, high - 1);
  for (int64_t i = 0; i < array.count(); ++i)
    array.set(i, Scalar::of_int(node.dtype, pick(random)));
  return array;
}

bool close(const Scalar& a, const Scalar& b, double tolerance) {
  if (a == b) return true;
  const double x = a.as_double(), y = b.as_double();
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  return tolerance > 0 && std::abs(x - y) <= tolerance * std::max({1.0, std::abs(x), std::abs(y)});
}

}  // namespace

Capabilities scalar_like() {
  Capabilities c = generic_capabilities();
  c.native_ops = {};
  c.vector_bytes = 0;
  c.max_workgroup = {1, 1, 1};
  c.max_workgroup_threads = 1;
  c.max_shared_bytes = 0;
  c.compute_units = 1;
  return c;
}

Capabilities cpu_like() {
  Capabilities c = generic_capabilities();
  c.max_workgroup = {1, 1, 1};
  c.max_workgroup_threads = 1;
  c.max_shared_bytes = 0;
  c.vector_bytes = 64;
  c.alignment = 64;
  c.vector_registers = 32;
  c.compute_units = 2;
  c.l1_bytes = 48 << 10;
  c.l2_bytes = 1 << 20;
  return c;
}

Capabilities gpu_like() {
  Capabilities c = scalar_like();
  const auto barrier = static_cast<uint32_t>(Op::BARRIER);
  c.native_ops[barrier >> 6] |= uint64_t{1} << (barrier & 63);
  c.max_workgroup = {256, 64, 64};
  c.max_workgroup_threads = 256;
  c.max_grid = {65535, 65535, 65535};
  c.max_shared_bytes = 32 << 10;
  c.compute_units = 64;
  return c;
}

Capabilities everything() {
  Capabilities c = cpu_like();
  c.max_workgroup = {256, 64, 64};
  c.max_workgroup_threads = 256;
  c.max_shared_bytes = 1 << 20;
  return c;
}

std::string difference(const Case& c, const Capabilities& capabilities,
                       const std::string& transforms, bool rules, uint32_t seed) {
  Builder builder;
  const Graph graph = parse_graph(c.graph, builder);
  std::mt19937 random(seed);
  std::vector<Array> inputs;
  for (const NodeRef& p : graph.params)
    inputs.push_back(random_array(*p, c.symbols, random, c.high));
  LowerOptions options;
  options.alias = c.alias;
  options.transforms = transforms;
  options.use_rules = rules;
  const LoweredKernel kernel = lower_kernel(graph, capabilities, options);
  const std::vector<Array> expected = evaluate(graph, inputs, c.symbols);
  const std::vector<Array> got = run(kernel, graph, c.alias, inputs, c.symbols);
  for (size_t o = 0; o < expected.size(); ++o)
    for (int64_t i = 0; i < expected[o].count(); ++i)
      if (!close(expected[o].at(i), got[o].at(i), c.tolerance))
        return fmt::format("output {} element {}: expected {}, got {}", o, i,
                           to_string(expected[o].at(i)), to_string(got[o].at(i)));
  return {};
}

TransformList random_transforms(Kernel kernel, std::mt19937& random, int steps, bool vectors,
                                bool groups) {
  TransformList list;
  const auto pick = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  // Only axes that nothing has changed can be kept, so that comes first.
  const auto keep_all = [&] {
    const std::vector<KernelAxis> axes = kernel.axes;
    for (const KernelAxis& r : axes)
      for (const KernelAxis& later : axes) {
        Kernel next = kernel;
        const Transform t{TransformKind::kKeep, {r.name, later.name}, 0, Bind::kLoop};
        try {
          apply_transform(next, t);
        } catch (const Error& e) {
          if (e.kind() != ErrorKind::kInvalid) throw;
          continue;
        }
        kernel = std::move(next);
        list.push_back(t);
      }
  };
  if (pick(2)) keep_all();
  static constexpr int64_t kFactors[] = {1, 2, 3, 4, 5, 8, 16};
  for (int step = 0; step < steps; ++step) {
    std::vector<std::string> axes;
    walk(std::as_const(kernel).body, [&](const Statement& s) {
      if (s.kind == Statement::Kind::kLoop) axes.push_back(kernel.axes[s.axis].name);
    });
    if (axes.empty()) return list;
    Transform t;
    t.names = {axes[pick(axes.size())]};
    t.factor = kFactors[pick(std::size(kFactors))];
    switch (pick(11)) {
      case 0:
      case 1:
        t.kind = TransformKind::kSplit;
        break;
      case 2:
        t.kind = TransformKind::kMerge;
        t.names.push_back(axes[pick(axes.size())]);
        break;
      case 3:
        t.kind = TransformKind::kPermute;
        t.names.push_back(axes[pick(axes.size())]);
        break;
      case 4:
        t.kind = TransformKind::kPad;
        break;
      case 5:
        t.kind = TransformKind::kUnroll;
        break;
      case 6:
        t.kind = vectors ? TransformKind::kVectorize : TransformKind::kUnroll;
        break;
      case 7:
        t.kind = TransformKind::kBind;
        t.bind = static_cast<Bind>(static_cast<size_t>(Bind::kGridX) + pick(groups ? 6 : 3));
        break;
      case 8:
        t.kind = groups ? TransformKind::kGroup : TransformKind::kSplit;
        break;
      case 9:
        t.kind = TransformKind::kKeep;
        t.names.push_back(axes[pick(axes.size())]);
        break;
      default:
        t.kind = TransformKind::kStage;
        t.names.insert(t.names.begin(), "b" + std::to_string(pick(kernel.buffers.size())));
    }
    const bool factor = t.kind == TransformKind::kSplit || t.kind == TransformKind::kPad ||
                        t.kind == TransformKind::kGroup;
    if (!factor) t.factor = 0;
    Kernel next = kernel;
    try {
      apply_transform(next, t);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInvalid) throw;
      continue;
    }
    kernel = std::move(next);
    list.push_back(std::move(t));
  }
  return list;
}

}  // namespace tenon::test
