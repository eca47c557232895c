// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, running reductions and order against NumPy.
#include <catch2/catch_test_macros.hpp>

#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {
namespace {

bool keep(const Call& call) { return call.integer("keep") != 0; }
Axes axis_of(const Call& call) { return call.has("axis") ? Axes(call.axis()) : Axes(); }

using OverAxes = Tensor (*)(const Tensor&, const Axes&, bool);
auto over_axes(OverAxes function) {
  return [function](const Call& call) {
    return Tensors{function(call.in.at(0), call.axes(), keep(call))};
  };
}

auto over_axis(OverAxes function) {
  return [function](const Call& call) {
    return Tensors{function(call.in.at(0), axis_of(call), keep(call))};
  };
}

using Scan = Tensor (*)(const Tensor&, const Axes&);
auto along(Scan function) {
  return [function](const Call& call) { return Tensors{function(call.in.at(0), axis_of(call))}; };
}

std::optional<DType> total_dtype_of(const Call& call) {
  return call.has("dtype") ? std::optional(call.dtype()) : std::nullopt;
}

using Total = Tensor (*)(const Tensor&, const Axes&, bool, std::optional<DType>);
auto total(Total function) {
  return [function](const Call& call) {
    return Tensors{
        function(call.in.at(0), call.axes(), call.has("keep") && keep(call), total_dtype_of(call))};
  };
}

using RunningTotal = Tensor (*)(const Tensor&, const Axes&, std::optional<DType>);
auto running(RunningTotal function) {
  return [function](const Call& call) {
    return Tensors{function(call.in.at(0), axis_of(call), total_dtype_of(call))};
  };
}

double ddof(const Call& call) { return call.has("ddof") ? call.real("ddof") : 0; }

Quantile method_of(const Call& call) {
  const std::string name = call.has("method") ? call.word("method") : "linear";
  if (name == "lower") return Quantile::kLower;
  if (name == "higher") return Quantile::kHigher;
  if (name == "midpoint") return Quantile::kMidpoint;
  if (name == "nearest") return Quantile::kNearest;
  return Quantile::kLinear;
}

const Function kReduce[] = {
    {"sum", total(sum), 16, 16, true, /*signed_zero=*/false},
    {"prod", total(prod), 16, 16, false, /*signed_zero=*/false},
    {"any", over_axes(any)},
    {"all", over_axes(all)},
    {"count_nonzero", over_axes(count_nonzero)},
    {"argmax", over_axis(argmax)},
    {"argmin", over_axis(argmin)},
    {"mean", over_axes(mean), 16, 16, true, false},
    {"var", [](const Call& c) { return Tensors{var(c.in.at(0), c.axes(), keep(c), ddof(c))}; }, 8,
     8},
    {"stddev",
     [](const Call& c) { return Tensors{stddev(c.in.at(0), c.axes(), keep(c), ddof(c))}; }, 8, 8},
    {"ptp", over_axes(ptp), 0, 0, false, /*signed_zero=*/false},
    {"norm",
     [](const Call& c) { return Tensors{norm(c.in.at(0), c.real("p"), c.axes(), keep(c))}; }, 16,
     16},
    {"logsumexp", over_axes(logsumexp), 4, 4, true},
    {"log_softmax", [](const Call& c) { return Tensors{log_softmax(c.in.at(0), c.axes())}; }, 4, 4,
     true, /*signed_zero=*/false},
    {"quantile",
     [](const Call& c) {
       return Tensors{quantile(c.in.at(0), c.real("q"), c.axes(), keep(c), method_of(c))};
     },
     4, 4, true, /*signed_zero=*/false},
    {"median", over_axes(median), 4, 4, true},
};

const Function kScan[] = {
    {"cumsum", running(cumsum), 16, 16, true, /*signed_zero=*/false},
    {"cumprod", running(cumprod), 32, 32, false, /*signed_zero=*/false},
    {"cummax", along(cummax), 0, 0, false, /*signed_zero=*/false},
    {"cummin", along(cummin), 0, 0, false, /*signed_zero=*/false},
    {"logcumsumexp", along(logcumsumexp), 16, 16, true, /*signed_zero=*/false},
};

bool descending(const Call& call) { return call.integer("descending") != 0; }

const Function kOrder[] = {
    {"sort", [](const Call& c) { return Tensors{sort(c.in.at(0), c.axis(), descending(c))}; }},
    {"argsort",
     [](const Call& c) { return Tensors{argsort(c.in.at(0), c.axis(), descending(c))}; }},
    {"topk",
     [](const Call& c) {
       const TopK found = topk(c.in.at(0), c.integer("k"), c.axis(), c.integer("largest") != 0);
       return Tensors{found.values, found.indices};
     }},
    {"searchsorted",
     [](const Call& c) {
       return Tensors{searchsorted(c.in.at(0), c.in.at(1), c.integer("right") != 0)};
     }},
    {"bincount",
     [](const Call& c) {
       if (!c.has("length")) return Tensors{bincount(c.in.at(0))};
       if (c.in.size() == 1) return Tensors{bincount(c.in.at(0), c.integer("length"))};
       return Tensors{bincount(c.in.at(0), c.integer("length"), c.in.at(1))};
     },
     4, 4},
    {"histogram",
     [](const Call& c) {
       const Histogram found =
           histogram(c.in.at(0), c.integer("bins"), c.real("low"), c.real("high"));
       return Tensors{found.counts, found.edges};
     },
     1, 1},
    {"unique",
     [](const Call& c) {
       const Unique found = unique(c.in.at(0));
       return Tensors{found.values, found.indices, found.inverse, found.counts};
     }},
    {"nonzero", [](const Call& c) { return nonzero(c.in.at(0)); }},
    {"masked_select", [](const Call& c) { return Tensors{masked_select(c.in.at(0), c.in.at(1))}; }},
};

TEST_CASE("reductions") { run_goldens("reduce", kReduce); }
TEST_CASE("running reductions") { run_goldens("scan", kScan); }
TEST_CASE("order and counting") { run_goldens("order", kOrder); }

}  // namespace

std::span<const Function> reduce_functions() { return kReduce; }
std::span<const Function> scan_functions() { return kScan; }
std::span<const Function> order_functions() { return kOrder; }

}  // namespace tenon::test
