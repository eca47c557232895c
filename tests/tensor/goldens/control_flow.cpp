// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches against JAX.
#include <catch2/catch_test_macros.hpp>

#include "tenon/make.hpp"
#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {
namespace {

/// control_flow_cases.py has the same functions.
Tensors all_of(const Scanned& scanned) {
  Tensors all = scanned.carried;
  all.insert(all.end(), scanned.outputs.begin(), scanned.outputs.end());
  return all;
}

Tensors recurrence(const Call& c) {
  const auto step = [&](const Tensors& carried, const Tensors& rows) {
    const Tensor h = (c.in.at(2) * carried[0] + rows[0]).tanh();
    return Scanned{{h}, {h * 2}};
  };
  return all_of(scan(step, {c.in.at(0)}, {c.in.at(1)}, {.reverse = c.integer("reverse") != 0}));
}

Tensors tallies(const Call& c) {
  const auto step = [](const Tensors& carried, const Tensors& rows) {
    const Tensor count = carried[0] + (rows[0] > 0).astype(DType::kI64).sum();
    const Tensor total = carried[1] * 0.5 + rows[0] * rows[1];
    return Scanned{{count, total}, {total.max(), total.expand_dims(1)}};
  };
  const Tensor zeros = tenon::zeros({3}, c.in.at(2).dtype(), c.context);
  return all_of(scan(step, {c.in.at(0), zeros}, {c.in.at(1), c.in.at(2)}));
}

Tensors powers(const Call& c) {
  const auto step = [&](const Tensors& carried, const Tensors&) {
    return Scanned{{carried[0].matmul(c.in.at(1))}, {carried[0].sum()}};
  };
  return all_of(scan(step, {c.in.at(0)}, {}, {.length = 4}));
}

Tensors nested(const Call& c) {
  const auto step = [&](const Tensors& carried, const Tensors& rows) {
    const auto inner = [&](const Tensor&, const Tensors& v) {
      return Tensors{(v[0] * c.in.at(2) + rows[0]).tanh()};
    };
    const Tensor h = fori_loop(0, 3, inner, carried)[0];
    return Scanned{{h}, {h}};
  };
  return all_of(scan(step, {c.in.at(0)}, {c.in.at(1)}));
}

Tensors rounds(const Call& c) {
  const auto body = [&](const Tensor& i, const Tensors& carried) {
    return Tensors{carried[0] * c.in.at(1) + i.astype(c.in.at(1).dtype())};
  };
  return fori_loop(c.integer("begin"), c.integer("end"), body, {c.in.at(0)});
}

Tensors halvings(const Call& c) {
  const auto above = [&](const Tensors& carried) { return carried[0].sum() > c.in.at(1); };
  const auto halve = [](const Tensors& carried) {
    return Tensors{carried[0] * 0.5, carried[1] + 1};
  };
  return while_loop(above, halve, {c.in.at(0), zeros({}, DType::kI64, c.context)},
                    {.max_trips = 6});
}

Tensors collatz(const Call& c) {
  const auto is_not_one = [](const Tensors& carried) { return carried[0] != 1; };
  const auto step = [](const Tensors& carried) {
    const Tensor& n = carried[0];
    return Tensors{where(n % 2 == 0, n / 2, n * 3 + 1), carried[1] + 1};
  };
  return while_loop(is_not_one, step, {c.in.at(0), zeros({}, DType::kI64, c.context)});
}

Tensors branches(const Call& c) {
  return cond(
      c.in.at(0), [&](const Tensors& x) { return Tensors{x[0].sin() * c.in.at(2)}; },
      [](const Tensors& x) { return Tensors{x[0].square()}; }, {c.in.at(1)});
}

Tensors of_mode(const Call& c, const std::map<std::string, Tensors (*)(const Call&)>& modes) {
  return modes.at(c.word("mode"))(c);
}

const Function kControlFlow[] = {
    {"scan",
     [](const Call& c) {
       return of_mode(c, {{"recurrence", recurrence},
                          {"tallies", tallies},
                          {"powers", powers},
                          {"nested", nested}});
     },
     16, 16, true},
    {"fori_loop", rounds, 16, 16, true},
    {"while_loop",
     [](const Call& c) {
       return of_mode(c, {{"halvings", halvings}, {"collatz", collatz}});
     },
     0, 0},
    {"cond", branches, 2, 2},
};

TEST_CASE("loops and branches") { run_goldens("control_flow", kControlFlow); }

}  // namespace

std::span<const Function> control_flow_functions() { return kControlFlow; }

}  // namespace tenon::test
