// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules out of modules and functions: one after another, or beside what they were given; and what
// stands between layers.
#pragma once

#include <concepts>
#include <tuple>
#include <utility>

#include "tenon/export.hpp"
#include "tenon/nn/mode.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

/// Calls a module with a Mode if it takes one.
template <class M>
Tensor apply(M& module, const Tensor& x, const Mode& mode) {
  if constexpr (std::invocable<M&, const Tensor&, const Mode&>)
    return module(x, mode);
  else
    return module(x);
}

/// layers[n](..layers[1](layers[0](x))); their names are numbers: "0.weight".
template <class... Layers>
struct Sequential {
  Sequential(Layers... parts) : layers(std::move(parts)...) {}
  Tensor operator()(const Tensor& x, const Mode& mode = {}) { return run(layers, x, mode); }
  /// Where no layer changes as it is used.
  Tensor operator()(const Tensor& x, const Mode& mode = {}) const
      requires(... && (std::invocable<const Layers&, const Tensor&> ||
                       std::invocable<const Layers&, const Tensor&, const Mode&>)) {
    return run(layers, x, mode);
  }

  std::tuple<Layers...> layers;
  auto fields() { return std::tie(layers); }
  static constexpr std::string_view field_names() { return ""; }

 private:
  template <class Parts>
  static Tensor run(Parts& parts, Tensor x, const Mode& mode) {
    std::apply([&](auto&... layer) { ((x = apply(layer, x, mode)), ...); }, parts);
    return x;
  }
};

/// x + body(x).
template <class Body>
struct Residual {
  Residual(Body part) : body(std::move(part)) {}
  Tensor operator()(const Tensor& x, const Mode& mode = {}) { return x + apply(body, x, mode); }
  Body body;
  TENON_FIELDS(body)
};

/// A function of a tensor as a module without fields.
template <Tensor (*F)(const Tensor&)>
struct Activation {
  Tensor operator()(const Tensor& x) const { return F(x); }
  auto fields() { return std::tie(); }
  static constexpr std::string_view field_names() { return ""; }
};
TENON_API Tensor relu(const Tensor& x);
TENON_API Tensor gelu(const Tensor& x);  ///< its tanh form
TENON_API Tensor tanh(const Tensor& x);
TENON_API Tensor sigmoid(const Tensor& x);
TENON_API Tensor flatten(const Tensor& x);  ///< [n, ..] to [n, all the rest]
using Relu = Activation<relu>;
using Gelu = Activation<gelu>;
using Tanh = Activation<tanh>;
using Sigmoid = Activation<sigmoid>;
using Silu = Activation<silu>;
using Softplus = Activation<softplus>;
using Mish = Activation<mish>;
using Relu6 = Activation<relu6>;
using Selu = Activation<selu>;
using HardSwish = Activation<hardswish>;
using HardSigmoid = Activation<hardsigmoid>;
using GeluExact = Activation<gelu_exact>;
using Flatten = Activation<flatten>;

/// While the model learns, zero with chance `rate` and else x / (1 - rate): Srivastava et al.,
/// 2014.
struct TENON_API Dropout {
  Dropout(double rate);
  Tensor operator()(const Tensor& x, const Mode& mode = {}) const;
  Fixed rate;
  TENON_FIELDS(rate)
};

}  // namespace tenon::nn
