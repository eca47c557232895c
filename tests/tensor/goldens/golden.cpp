// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/tensor/goldens/golden.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "core/interval/ops.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/make.hpp"
#include "tests/docs/check_table.hpp"
#include "tests/tensor/goldens/facts.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {

/// Floats in the order of their values as integers one apart; both zeros are 0.
int64_t ordered(const Scalar& s) {
  const uint64_t sign = uint64_t{1} << (dtype_bits(s.dtype) - 1);
  const auto size = static_cast<int64_t>(s.bits & (sign - 1));
  return s.bits & sign ? -size : size;
}

struct Tolerance {
  double ulps = 0;
  bool signed_zero = true;
  bool relaxed = false;  ///< subnormal numbers may be 0, and zeros have any sign
  double absolute = 0;
};

bool is_subnormal(const Scalar& s) {
  if (!is_float(s.dtype) || s.is_zero()) return false;
  return std::abs(s.as_double()) < reference::float_facts(s.dtype).min_normal();
}

bool close(const Scalar& got, const Scalar& want, const Tolerance& t) {
  if (!is_float(want.dtype)) return got == want;
  const double a = got.as_double(), b = want.as_double();
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (t.relaxed && is_subnormal(want) &&
      std::abs(a) <= reference::float_facts(want.dtype).min_normal())
    return true;
  if (a == 0 && b == 0) return t.relaxed || !t.signed_zero || std::signbit(a) == std::signbit(b);
  if (std::abs(a - b) <= t.absolute) return true;
  const int64_t x = ordered(got), y = ordered(want);
  const auto apart = static_cast<uint64_t>(std::max(x, y)) - static_cast<uint64_t>(std::min(x, y));
  return static_cast<double>(apart) <= t.ulps;
}

/// Empty if all elements are close, else what is wrong, with the worst few.
std::string compare(const Array& got, const Array& want, const std::vector<Array>& inputs,
                    Tolerance t, const Function& function) {
  if (got.dtype != want.dtype || got.shape != want.shape) {
    std::ostringstream out;
    out << "got " << dtype_name(got.dtype) << " of rank " << got.shape.size() << " and "
        << got.count() << " elements, expected " << dtype_name(want.dtype) << " of rank "
        << want.shape.size() << " and " << want.count();
    return out.str();
  }
  if (function.of_largest && is_float(want.dtype)) {
    double largest = 0;
    for (int64_t i = 0; i < want.count(); ++i) {
      const double size = std::abs(want.at(i).as_double());
      if (std::isfinite(size)) largest = std::max(largest, size);
    }
    t.absolute = t.ulps * reference::ulp(largest, want.dtype);
  }
  std::ostringstream out;
  int wrong = 0;
  for (int64_t i = 0; i < want.count(); ++i) {
    bool flushed = false;
    for (const Array& input : inputs)
      flushed = flushed || (t.relaxed && input.shape == want.shape && is_subnormal(input.at(i)));
    if (flushed || close(got.at(i), want.at(i), t)) continue;
    if (++wrong > 6) continue;
    out << "\n  element " << i << ": got " << to_string(got.at(i)) << ", expected "
        << to_string(want.at(i));
    for (const Array& input : inputs)
      if (input.shape == want.shape) out << ", of " << to_string(input.at(i));
  }
  return wrong == 0 ? "" : std::to_string(wrong) + " wrong elements" + out.str();
}

double ulps_of(const Function& function, DType dtype) {
  if (dtype == DType::kF64) return function.f64;
  if (dtype == DType::kF32) return function.f32;
  return function.f32 > 0 ? std::max(1.0, function.of_largest ? function.f32 : 1.0) : 0;
}

bool uses(const Case& c, DType dtype) {
  const auto is = [&](const Array& array) { return array.dtype == dtype; };
  return std::ranges::any_of(c.inputs, is) || std::ranges::any_of(c.outputs, is);
}

/// The case with its elements cast: what only moves them gives those of the result, cast.
Case in_dtype(Case c, DType dtype) {
  for (std::vector<Array>* arrays : {&c.inputs, &c.outputs}) {
    for (Array& array : *arrays) {
      Array other = Array::zeros(dtype, array.shape);
      for (int64_t i = 0; i < array.count(); ++i) other.set(i, cast(array.at(i), dtype));
      array = std::move(other);
    }
  }
  return c;
}

/// Kernels that computing the tensors takes; they stay lazy.
int launches(const Tensors& tensors) {
  std::vector<NodeRef> outputs;
  for (const Tensor& tensor : tensors)
    if (!buffer_of(*node_of(tensor))) outputs.push_back(node_of(tensor));
  if (outputs.empty()) return 0;
  Context& context = tensors[0].context();
  const Collected collected = collect(builder_of(context), outputs);
  RunStats stats;
  runtime_of(context).run(collected.graph, collected.inputs, {}, &stats);
  return stats.kernels;
}

}  // namespace

/// A device that is not there is no failure; the environment names it.
std::unique_ptr<Context> open_context() {
  try {
    return std::make_unique<Context>();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kEnvironment) SKIP(error.what());
    throw;
  }
}

void run_goldens(const std::string& file, std::span<const Function> functions) {
  const std::unique_ptr<Context> opened = open_context();
  Context& context = *opened;
  const std::string device = context.device().id;
  const Capabilities& can = runtime_of(context).device().capabilities();
  const bool has_f64 = can.of(DType::kF64).arithmetic;
  std::map<std::string, const Function*> by_name;
  for (const Function& function : functions) by_name[function.name] = &function;
  std::map<std::string, Facts> facts;
  int count = 0, unsupported = 0;
  std::string reason;
  const auto run = [&](const Case& c, const Function& function) {
    INFO(file << ".txt:" << c.line << ": " << c.function << " on " << device);
    Facts& seen = facts[c.function];
    seen.dtypes.insert((c.inputs.empty() ? c.outputs : c.inputs).at(0).dtype);
    ++count;
    try {
      Call call{context, {}, c.attributes};
      for (const Array& input : c.inputs) call.in.push_back(tensor(input, context));
      const Tensors results = function.run(call);
      REQUIRE(results.size() == c.outputs.size());
      seen.kernels = std::max(seen.kernels, launches(results));
      for (size_t i = 0; i < results.size(); ++i) {
        const Tolerance tolerance{ulps_of(function, c.outputs[i].dtype), function.signed_zero,
                                  can.numerics != 0};
        const Array got = results[i].to_array();
        CHECK(compare(got, c.outputs[i], c.inputs, tolerance, function) == "");
      }
    } catch (const Error& error) {
      // A device may lack f64, and says so; nothing else may go wrong.
      INFO(error.what());
      CHECK(error.kind() == ErrorKind::kUnsupported);
      CHECK((!has_f64 && uses(c, DType::kF64)));
      reason = error.what();
      ++unsupported;
    }
  };
  // Of each function the first case runs, and of all others every n-th.
  const char* const wanted = std::getenv("TENON_TESTS_EVERY");
  const int every = wanted ? std::max(1, std::atoi(wanted)) : 1;
  int met = 0;
  const auto is_drawn = [&] { return ++met % every == 0; };
  for (const Case& c : read_cases("tensor/goldens/" + file)) {
    const auto found = by_name.find(c.function);
    INFO(c.function);
    REQUIRE(found != by_name.end());
    const bool first = !facts.contains(c.function);
    if (first || is_drawn()) run(c, *found->second);
    if (!first || !found->second->moves) continue;
    for (const DType dtype : all_dtypes())
      if (!uses(c, dtype) && is_drawn()) run(in_dtype(c, dtype), *found->second);
  }
  for (const Function& function : functions) {
    INFO(function.name);
    CHECK(facts.contains(function.name));
  }
  if (unsupported > 0)
    WARN(unsupported << " of " << count << " cases UNSUPPORTED on " << device
                     << ", as in: " << reason);
  if (device == "cpu:0") check_table("tensor.md", file, facts_table(functions, facts));
}

}  // namespace tenon::test
