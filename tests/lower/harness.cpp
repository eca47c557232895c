// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/lower/harness.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "core/kernel/tree/build.hpp"
#include "core/kernel/tree/loop_trips.hpp"
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

std::string filled(std::string text, const Names& names) {
  for (const auto& [name, value] : names)
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), value);
  return text;
}

std::string filled(std::string text, const std::map<char, int64_t>& numbers) {
  Names names;
  for (const auto& [letter, number] : numbers)
    names.emplace_back(std::string("$") + letter, std::to_string(number));
  return filled(std::move(text), names);
}

size_t count_of(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

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
  c.alignment = c.read_alignment = 64;
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

Capabilities dots_like() {
  Capabilities c = cpu_like();
  const auto dot = static_cast<uint32_t>(Op::DOT);
  c.native_ops[dot >> 6] |= uint64_t{1} << (dot & 63);
  c.dots = {{DType::kBF16, DType::kBF16, DType::kF32, 2, true},
            {DType::kU8, DType::kI8, DType::kI32, 4, false}};
  return c;
}

Capabilities everything() {
  Capabilities c = dots_like();
  c.max_workgroup = {256, 64, 64};
  c.max_workgroup_threads = 256;
  c.max_shared_bytes = 1 << 20;
  return c;
}

LoweredKernel lower(const Graph& legal, const Capabilities& capabilities,
                    const std::string& transforms, bool by_templates, const std::vector<int>& alias,
                    const std::vector<int>& sections) {
  Builder builder;
  const Compiler compiler(builder, {.verify = true});
  const LowerOptions options{.alias = alias, .sections = sections, .name = "kernel"};
  if (by_templates && transforms.empty()) return compiler.lower(legal, capabilities, options);
  WrittenChooser written(parse_transforms(transforms));
  return compiler.lower(legal, capabilities, options, written);
}

constexpr uint32_t kAnyTrips = 1 << 30;  ///< more than anything here runs

std::string difference(const Case& c, const Capabilities& capabilities,
                       const std::string& transforms, bool by_templates, uint32_t seed) {
  Builder builder;
  const Graph graph = parse_graph(c.graph, builder);
  std::mt19937 random(seed);
  std::vector<Array> inputs;
  for (const NodeRef& p : graph.params)
    inputs.push_back(random_array(*p, c.symbols, random, c.high));
  const LoweredKernel kernel =
      lower(graph, capabilities, transforms, by_templates, c.alias, c.sections);
  const std::vector<Array> expected = evaluate(graph, inputs, c.symbols);
  int64_t trips = 0;
  const std::vector<Array> got =
      run(kernel, graph, c.alias, inputs, c.symbols, capabilities.atoms, &trips);
  const int64_t most = loop_trips(kernel.chosen.kernel, kAnyTrips).evaluate(c.symbols);
  if (trips > most) return fmt::format("expected at most {} iterations, got {}", most, trips);
  for (size_t o = 0; o < expected.size(); ++o)
    for (int64_t i = 0; i < expected[o].count(); ++i)
      if (!close(expected[o].at(i), got[o].at(i), c.tolerance))
        return fmt::format("output {} element {}: expected {}, got {}", o, i,
                           to_string(expected[o].at(i)), to_string(got[o].at(i)));
  return {};
}

std::string difference_of_drawn(const Case& c, const Capabilities& capabilities,
                                const std::string& transforms, uint32_t seed) {
  try {
    return difference(c, capabilities, transforms, false, seed);
  } catch (const Error& e) {
    return e.kind() == ErrorKind::kUnsupported ? "" : e.what();
  }
}

Below below_of(std::mt19937& random) {
  return
      [&random](uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random); };
}

std::vector<std::string> random_lists(const std::string& graph, uint32_t seeds,
                                      const RandomTransformOptions& options) {
  Builder builder;
  const Kernel kernel = build_kernel(parse_graph(graph, builder));
  std::vector<std::string> lists;
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937 random(seed);
    lists.push_back(list_text(random_transforms(kernel, below_of(random), options)));
  }
  return lists;
}

}  // namespace tenon::test
