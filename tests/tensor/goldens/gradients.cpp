// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of first and second order of the functions of golden files, against those of JAX in
// f64; and of activations, softmaxes and norms where numbers are large, in each wide dtype.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/interval/ops.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/gradient.hpp"
#include "tenon/make.hpp"
#include "tenon/random.hpp"
#include "tests/docs/check_table.hpp"
#include "tests/tensor/goldens/golden.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {

const Function kMembers[] = {
    {"max", [](const Call& c) { return Tensors{c.in.at(0).max(c.axes())}; }, 0, 0, false, false},
    {"min", [](const Call& c) { return Tensors{c.in.at(0).min(c.axes())}; }, 0, 0, false, false},
    {"softmax", [](const Call& c) { return Tensors{c.in.at(0).softmax(c.axis())}; }, 4, 4},
    {"layer_norm",
     [](const Call& c) { return Tensors{c.in.at(0).layer_norm(c.axis(), c.real("epsilon"))}; }, 4,
     4, true},
    {"where", [](const Call& c) { return Tensors{where(c.in.at(0), c.in.at(1), c.in.at(2))}; }},
    {"pow_of_number", [](const Call& c) { return Tensors{c.in.at(0).pow(c.real("exponent"))}; }, 4,
     4},
    {"reshape", [](const Call& c) { return Tensors{c.in.at(0).reshape(c.integers("shape"))}; }},
    {"transpose", [](const Call& c) { return Tensors{c.in.at(0).transpose(c.axes())}; }},
    {"flip", [](const Call& c) { return Tensors{c.in.at(0).flip(c.axes())}; }},
    {"take_of_position",
     [](const Call& c) { return Tensors{c.in.at(0).take(c.integer("at"), c.axis())}; }},
    {"astype",
     [](const Call& c) { return Tensors{c.in.at(0).astype(DType::kF32).astype(DType::kF64)}; }},
    {"take", [](const Call& c) { return Tensors{c.in.at(0).take(c.in.at(1), c.axis())}; }},
    {"scatter_add",
     [](const Call& c) {
       return Tensors{c.in.at(0).scatter_add(c.axis(), c.in.at(1), c.in.at(2))};
     }},
    {"matmul", [](const Call& c) { return Tensors{c.in.at(0).matmul(c.in.at(1))}; }},
    {"eigh",
     [](const Call& c) {
       const Eigen found = eigh(c.in.at(0));
       if (c.word("mode") == "values") return Tensors{found.values};
       return Tensors{
           (found.vectors * found.values.sin()).matmul(found.vectors.matrix_transpose())};
     }},
    {"svd",
     [](const Call& c) {
       const SVD found = svd(c.in.at(0));
       if (c.word("mode").starts_with("values")) return Tensors{found.values};
       return Tensors{found.u.matmul(found.vh)};
     }},
    {"uniform",
     [](const Call& c) {
       return Tensors{
           uniform(Key(c.in.at(0)), c.integers("shape"), c.in.at(1), c.in.at(2), DType::kF64)};
     }},
    {"normal",
     [](const Call& c) {
       return Tensors{
           normal(Key(c.in.at(0)), c.integers("shape"), c.in.at(1), c.in.at(2), DType::kF64)};
     }},
    {"exponential",
     [](const Call& c) {
       return Tensors{exponential(Key(c.in.at(0)), c.integers("shape"), c.in.at(1), DType::kF64)};
     }},
    {"permutation",
     [](const Call& c) { return Tensors{permutation(Key(c.in.at(0)), c.in.at(1))}; }},
    {"choice",
     [](const Call& c) {
       return Tensors{choice(Key(c.in.at(0)), c.in.at(1), c.integers("shape"))};
     }},
};

/// gradient_cases.py has the same formula.
Tensor seed_like(int64_t number, const Tensor& x) {
  Array array = Array::zeros(x.dtype(), x.shape());
  for (int64_t i = 0; i < array.count(); ++i)
    array.set(i, Scalar::of(x.dtype(),
                            static_cast<double>((7 * i + 3 * number + 5) % 11 - 5) / 4 + 0.125));
  return tensor(array, x.context());
}

Tensors seeds_like(int64_t first, const Tensors& tensors) {
  Tensors seeds;
  for (const Tensor& x : tensors) seeds.push_back(seed_like(first++, x));
  return seeds;
}

struct Orders {
  Tensors values, first, second;
};

/// By the float inputs, of the float results.
Orders gradients_of(const Function& function, const Call& call, bool twice) {
  Tensors inputs;
  for (const Tensor& x : call.in)
    if (is_float(x.dtype())) inputs.push_back(x);
  const TensorFunction f = [&](const Tensors& values) {
    Call own = call;
    size_t next = 0;
    for (Tensor& x : own.in)
      if (is_float(x.dtype())) x = values.at(next++);
    Tensors results = function.run(own);
    std::erase_if(results, [](const Tensor& x) { return !is_float(x.dtype()); });
    return results;
  };
  const Tensors seeds = seeds_like(0, f(inputs));
  const TensorFunction gradient = [&](const Tensors& values) {
    return vjp(f, values, seeds).products;
  };
  if (!twice) {
    const ValuesAndProducts one = vjp(f, inputs, seeds);
    return {one.values, one.products, {}};
  }
  const ValuesAndProducts two = vjp(gradient, inputs, seeds_like(16, inputs));
  return {{}, two.values, two.products};
}

/// As `name mode`: what is a function of its own in other libraries.
std::string form_of(const Case& c) {
  std::string form = c.function;
  for (const char* mode : {"combine", "mode", "method", "p", "exponent", "index", "ddof", "text",
                           "pow_of_number", "norm"})
    if (const auto found = c.attributes.find(mode); found != c.attributes.end())
      form += " " + found->second;
  return form;
}

/// What of a case goes wrong; empty if nothing.
std::string run_case(const Case& c, const Function& function, Context& context, bool twice,
                     const std::function<bool(double, double, double)>& close) {
  std::string wrong;
  const DType dtype =
      std::ranges::find_if(c.inputs, [](const Array& x) { return is_float(x.dtype); })->dtype;
  try {
    Call call{context, {}, c.attributes};
    for (const Array& input : c.inputs) call.in.push_back(tensor(input, context));
    const Orders orders = gradients_of(function, call, twice);
    Tensors got = orders.values;
    got.insert(got.end(), orders.first.begin(), orders.first.end());
    got.insert(got.end(), orders.second.begin(), orders.second.end());
    realize(got);
    if (got.size() != c.outputs.size()) return fmt::format("\n  {} tensors", got.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const Array values = got[i].to_array(), &expected = c.outputs[i];
      if (values.shape != expected.shape || values.dtype != dtype)
        return wrong + fmt::format("\n  tensor {} has another type", i);
      double largest = 1;
      for (int64_t e = 0; e < expected.count(); ++e)
        largest = std::max(largest, std::abs(expected.at(e).as_double()));
      for (int64_t e = 0; e < expected.count(); ++e) {
        const double a = values.at(e).as_double(), b = expected.at(e).as_double();
        if (!close(a, b, largest))
          wrong += fmt::format("\n  tensor {}, element {}: got {}, expected {}", i, e, a, b);
      }
    }
  } catch (const Error& error) {
    wrong += std::string("\n  ") + error.what();
  }
  return wrong;
}

TEST_CASE("gradients of functions equal those of JAX") {
  const std::unique_ptr<Context> opened = open_context();
  Context& context = *opened;
  if (context.device().id != "cpu:0")
    SKIP("the ops that gradients are made of are tested by the other files");
  const auto by_name = functions_by_name();
  std::set<std::string> names, forms;
  double worst = 0;
  std::vector<Case> cases = read_cases("tensor/goldens/gradients");
  for (const char* file : {"gradients_linalg", "gradients_control_flow"})
    for (Case& c : read_cases(std::string("tensor/goldens/") + file)) cases.push_back(std::move(c));
  for (const Case& c : cases) {
    INFO("line " << c.line << ": " << form_of(c));
    REQUIRE(by_name.contains(c.function));
    const auto close = [&](double a, double b, double largest) {
      const double rest = 1e-12 * largest;  // of terms that cancel
      if (std::abs(b) > 1e6 * rest) worst = std::max(worst, std::abs(a - b) / std::abs(b));
      return std::abs(a - b) <= 1e-6 * std::abs(b) + rest;
    };
    CHECK(run_case(c, *by_name.at(c.function), context, /*twice=*/true, close) == "");
    names.insert(c.function);
    forms.insert(form_of(c));
  }
  const std::string table = fmt::format(
      "| functions | with their modes | orders |\n|---|---|---|\n| {} | {} | 1 and 2 |\n",
      names.size(), forms.size());
  check_table("measured/gradients.md", "functions", table);
  INFO("worst relative error " << worst);
  CHECK(worst < 1e-6);
}

TEST_CASE("activations, softmaxes and norms are finite where their values are") {
  const std::unique_ptr<Context> opened = open_context();
  Context& context = *opened;
  const auto by_name = functions_by_name();
  const bool has_f64 = runtime_of(context).device().capabilities().of(DType::kF64).arithmetic;
  std::set<std::string> forms;
  for (const Case& c : read_cases("tensor/goldens/large")) {
    const DType dtype = c.inputs.at(0).dtype;
    if (dtype == DType::kF64 && !has_f64) continue;
    INFO("large.txt:" << c.line << ": " << form_of(c) << " of " << dtype_name(dtype));
    REQUIRE(by_name.contains(c.function));
    const double roundings = 16 * reference::ulp(1, dtype);
    const auto close = [&](double a, double b, double) {
      if (!std::isfinite(Scalar::of(dtype, b).as_double())) return true;  // beyond the dtype
      return std::abs(a - b) <= roundings * (1 + std::abs(b));
    };
    CHECK(run_case(c, *by_name.at(c.function), context, /*twice=*/false, close) == "");
    forms.insert(form_of(c));
  }
  CHECK(forms.size() >= 25);
}

Tensor doubles(std::initializer_list<double> values, Context& context) {
  return tensor(std::vector(values), {static_cast<int64_t>(values.size())}, context);
}

TEST_CASE("gradients at kinks") {
  const std::unique_ptr<Context> opened = open_context();
  Context& context = *opened;
  if (!runtime_of(context).device().capabilities().of(DType::kF64).arithmetic) SKIP("needs f64");
  using Doubles = std::vector<double>;
  const auto slope = [&](const std::function<Tensor(const Tensor&)>& function,
                         std::initializer_list<double> at) {
    const Tensor x = doubles(at, context);
    return grad(function(x).sum(), {x})[0].to_vector<double>();
  };
  CHECK(slope([](const Tensor& x) { return x.relu(); }, {-1, 0, -0.0, 2}) == Doubles{0, 0, 0, 1});
  CHECK(slope([](const Tensor& x) { return x.abs(); }, {-1, 0, -0.0, 2}) == Doubles{-1, 0, 0, 1});
  CHECK(slope([](const Tensor& x) { return x.sqrt(); }, {0, 4}) == Doubles{INFINITY, 0.25});
  CHECK(slope([](const Tensor& x) { return x.max(); }, {3, 1, 3, 3, 3}) ==
        Doubles{0.25, 0, 0.25, 0.25, 0.25});
  CHECK(slope([](const Tensor& x) { return x.maximum(1.0); }, {0, 1, 2}) == Doubles{0, 0.5, 1});
  for (const double p : {1.0, 1.5, 2.0, 3.0, double{INFINITY}})
    CHECK(slope([&](const Tensor& x) { return norm(x, p); }, {0, 0, -0.0}) == Doubles{0, 0, 0});
  const Doubles slopes = slope([](const Tensor& x) { return norm(x, 1.5); }, {0, 4});
  CHECK(slopes[0] == 0);
  CHECK(std::abs(slopes[1] - 1) < 1e-14);
  CHECK(slope([](const Tensor& x) { return cbrt(x); }, {0, 1, INFINITY}) ==
        Doubles{INFINITY, 1.0 / 3, 0});
  const auto bend = [&](double power) {
    const Tensor x = doubles({0}, context), y = doubles({power}, context);
    return grad(grad(pow(x, y).sum(), {x})[0].sum(), {x})[0].item<double>();
  };
  CHECK(bend(2) == 2);
  CHECK(bend(3) == 0);
  CHECK(bend(2.5) == 0);
  CHECK(bend(1.5) == INFINITY);
  CHECK(slope([](const Tensor& x) { return stddev(x); }, {2, 2}) == Doubles{0, 0});
  CHECK(slope([](const Tensor& x) { return where(x == 0, 0.0, x.reciprocal()); }, {0, 2}) ==
        Doubles{0, -0.25});
}

}  // namespace

std::map<std::string, const Function*> functions_by_name() {
  std::map<std::string, const Function*> by_name;
  for (const auto functions :
       {unary_functions(), binary_functions(), make_functions(), move_functions(),
        reduce_functions(), scan_functions(), order_functions(), index_functions(),
        linalg_functions(), fft_functions(), control_flow_functions(),
        std::span<const Function>(kMembers)})
    for (const Function& function : functions) by_name[function.name] = &function;
  return by_name;
}

}  // namespace tenon::test
