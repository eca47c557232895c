// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Paths of gradients through values that were read, and into the bodies of traced functions.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>

#include "frontend/tensor/origin.hpp"
#include "tenon/npy.hpp"
#include "tenon/print.hpp"
#include "tenon/tenon.hpp"

namespace tenon {
namespace {

using Catch::Matchers::Approx;
using Catch::Matchers::ContainsSubstring;
using Doubles = std::vector<double>;

Tensor row(std::initializer_list<double> values) {
  return tensor(std::vector(values), {static_cast<int64_t>(values.size())});
}
/// Made of constants alone.
Tensor lazy_weight(int first) { return (arange(2) + first).astype(DType::kF64) * 0.25; }
Doubles slope(const Tensor& y, const Tensor& x) {
  return grad(y.sum(), {x})[0].to_vector<double>();
}

TEST_CASE("gradient: reading a value in between cuts no path") {
  const auto file = std::filesystem::temp_directory_path() / "tenon_history.npy";
  const std::map<std::string, std::function<Tensor(const Tensor&)>> readers = {
      {"print",
       [](const Tensor& h) {
         std::ostringstream out;
         out << h;
         return h;
       }},
      {"item", [](const Tensor& h) { return h.sum().item<double>(), h; }},
      {"to_vector", [](const Tensor& h) { return h.to_vector<double>(), h; }},
      {"describe", [](const Tensor& h) { return describe(h), h; }},
      {"write_npy", [&](const Tensor& h) { return write_npy(file.string(), h.to_array()), h; }},
      {"realize", [](const Tensor& h) { return realize({h}), h; }},
      {"contiguous", [](const Tensor& h) { return contiguous(h); }},
      {"copy", [](const Tensor& h) { return copy(h); }},
      {"copy of a copy", [](const Tensor& h) { return copy(copy(h)); }},
      {"compiled", [](const Tensor& h) { return compile([](Tensor x) { return x * 1.0; })(h); }},
  };
  for (const auto& [name, read] : readers) {
    INFO(name);
    const Tensor w = row({2, 3});
    const Tensor h = read(w * 3.0);
    CHECK(slope(h * w, w) == Doubles{12, 18});
    CHECK(slope(h * w, h) == Doubles{2, 3});
    // By the function, whose own leaf stands for w.
    CHECK(value_and_grad([&](const Tensor& x) { return (read(x * 3.0) * x).sum(); })(w)
              .gradients.to_vector<double>() == Doubles{12, 18});
  }
  std::filesystem::remove(file);
}

TEST_CASE("gradient: a leaf that is read after others were made from it, in any order") {
  const Tensor large = broadcast_to(copy(row({0.5})), {4096});  // more than what a run keeps
  for (const Tensor& x : {lazy_weight(1), row({1, 2}), large})
    for (const bool leaf_first : {true, false}) {
      const Tensor w = x * 0.5;
      const Tensor h = w * 3.0;
      if (!leaf_first) h.to_vector<double>();
      const Doubles value = w.to_vector<double>();
      for (int i = 0; i < 2; ++i) {
        const Doubles found = slope(h * w, w);
        CHECK(found[0] == 6 * value[0]);
        CHECK(found.back() == 6 * value.back());
        h.to_vector<double>();
      }
    }
}

TEST_CASE("gradient: values between that are gone are computed again") {
  const Tensor w = row({2, 3});
  Tensor h = w;
  for (int i = 0; i < 10; ++i) {
    h = h * w;
    realize({h});
  }
  CHECK(slope(h, w) == Doubles{11 * 1024.0, 11 * 59049.0});
}

TEST_CASE("gradient: data that is gone is named, and a tape holds it") {
  const Tensor w = row({2, 3});
  const auto made = [&] {
    Tensor h = w * copy(row({5, 7}));
    h.to_vector<double>();
    return h;
  };
  CHECK_THROWS_WITH(slope(made(), w), ContainsSubstring("f64[2]) that is gone, from which "
                                                        "[to_array] computed what was read; hold"));
  const GradientTape tape;
  CHECK(slope(made(), w) == Doubles{5, 7});
}

TEST_CASE("gradient: a long history is an error where it matters, and only there") {
  const Tensor w = row({2, 3}), other = row({1, 1});
  Tensor of_w = w * 1.0, of_other = other * 1.0;
  std::vector<Tensor> all;
  for (int i = 0; i < 3 * kMostGenerations; ++i) {
    of_w = of_w * 1.0;
    of_other = of_other + 1.0;
    realize({of_w});
    realize({of_other});
    if (i % 2 == 0) all.push_back(of_other);
    REQUIRE(made_of(*node_of(of_w)).origin->generation < kMostGenerations);
  }
  CHECK_THROWS_WITH(
      slope(of_w * w, w),
      ContainsSubstring("more than 64 runs before a run of [realize]; stop_gradient it"));
  CHECK(slope(of_other * w, w) == of_other.to_vector<double>());
  CHECK(slope(stop_gradient(of_w) * w, w) == Doubles{2, 3});
  // Held on the way, any length will do.
  Tensor held = w * 1.0;
  for (int i = 0; i < 3 * kMostGenerations; ++i) {
    all.push_back(held);
    held = held * 1.0;
    realize({held});
  }
  CHECK(slope(held * w, w) == Doubles{4, 6});
}

TEST_CASE("gradient: detached, donated and resized values") {
  const Tensor w = row({2, 3});
  const Tensor h = w * 3.0;
  realize_detached({h});
  CHECK(slope(h * w, w) == Doubles{6, 9});
  CHECK_THROWS_WITH(slope(h, w), ContainsSubstring("the output does not depend on it"));

  const auto f = compile([](Tensor x, Tensor y) { return x * y; }, {.name = "f", .donate = {0}});
  const Tensor y = f(row({5, 7}), w);
  CHECK_THROWS_WITH(slope(y, w), ContainsSubstring("that is gone, from which [f] computed"));

  const Tensor sized = (w * 3.0).with_size(0, Size::symbol("n", 1, 4));
  CHECK_THROWS_WITH(slope((sized * sized).sum() + w.sum(), w),
                    ContainsSubstring("through [with_size], which has no gradient"));
}

TEST_CASE("gradient: a lazy weight that a traced body uses") {
  using Tensors = std::vector<Tensor>;
  const Tensor x = row({1, 2});
  const std::map<std::string, std::function<Tensor(const Tensor&)>> uses = {
      {"fori_loop",
       [&](const Tensor& w) {
         return fori_loop(0, 3, [&](const Tensor&, const Tensors& c) { return Tensors{c[0] * w}; },
                          {x})[0];
       }},
      {"while_loop",
       [&](const Tensor& w) {
         return while_loop([&](const Tensors& c) { return c[0].sum() < 1e3; },
                           [&](const Tensors& c) { return Tensors{c[0] * (w + 2.0)}; }, {x},
                           {.max_trips = 20})[0];
       }},
      {"scan",
       [&](const Tensor& w) {
         return scan(
                    [&](const Tensors& c, const Tensors& s) {
                      return Scanned{{c[0] + s[0] * w.sum()}, {c[0] * w}};
                    },
                    {x.sum()}, {x})
             .outputs[0];
       }},
      {"cond",
       [&](const Tensor& w) {
         return cond(
             x.sum() > 0, [&](const Tensors& c) { return Tensors{c[0] * w}; },
             [&](const Tensors& c) { return Tensors{c[0] + w}; }, {x})[0];
       }},
      {"composite",
       [&](const Tensor& w) {
         return composite("f", [&](const Tensors& c) { return Tensors{c[0] * w}; })({x})[0];
       }},
      {"checkpoint",
       [&](const Tensor& w) {
         return checkpoint([&](const Tensors& c) { return Tensors{(c[0] * w).exp()}; })({x})[0];
       }},
      {"nested",
       [&](const Tensor& w) {
         return checkpoint([&](const Tensors& c) {
           return fori_loop(
               0, 2,
               [&](const Tensor&, const Tensors& inner) {
                 return cond(
                     inner[0].sum() > 0, [&](const Tensors& d) { return Tensors{d[0] * w}; },
                     [&](const Tensors& d) { return Tensors{d[0] - w}; }, inner);
               },
               c);
         })({x})[0];
       }},
  };
  for (const auto& [name, use] : uses) {
    INFO(name);
    const auto loss = [&](const Tensor& w) { return use(w).sum() + 0.5 * w.square().sum(); };
    const auto made = [] { return lazy_weight(2) * 0.5; };
    const Tensor held = copy(made());
    const Doubles expected = grad(loss(held), {held})[0].to_vector<double>();
    const Tensor lazy = made();
    CHECK_THAT(grad(loss(lazy), {lazy})[0].to_vector<double>(), Approx(expected));
    // By what the weight is made from, and through its use twice.
    const Tensor raw = lazy_weight(2), weight = raw * 0.5;
    const Doubles of_raw = grad(loss(weight), {raw})[0].to_vector<double>();
    CHECK_THAT(of_raw, Approx(Doubles{0.5 * expected[0], 0.5 * expected[1]}));
    // A view of a captured value.
    const Tensor wide = broadcast_to(copy(row({0.5})), {2});
    const Tensor whole = copy(wide);
    CHECK_THAT(grad(loss(wide), {wide})[0].to_vector<double>(),
               Approx(grad(loss(whole), {whole})[0].to_vector<double>()));
    // Second order.
    const auto twice = [&](const Tensor& w) {
      return grad(grad(loss(w), {w})[0].square().sum(), {w})[0].to_vector<double>();
    };
    CHECK_THAT(twice(made()), Approx(twice(held)));
  }
}

TEST_CASE("gradient: a lazy weight within a function with a gradient of its own") {
  const Tensor w = lazy_weight(3) * 0.5;
  const auto f = composite(
      "scaled", [&](const std::vector<Tensor>& c) { return std::vector{c[0] * w}; },
      [](const std::vector<Tensor>& c) { return std::vector{c[2] * 2.0}; });
  CHECK_THROWS_WITH(slope(f({row({1, 2})})[0] * w, w),
                    ContainsSubstring("[scaled] expected a function with a gradient of its own"));
}

}  // namespace
}  // namespace tenon
