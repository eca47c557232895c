// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers: Elman's network, LSTM (Hochreiter and Schmidhuber, 1997) and GRU (Cho et al.,
// 2014). Weights, gates and results are PyTorch's.
//
//   nn::LSTM lstm(64, 128, {.layers = 2});
//   const auto [output, state] = lstm(x);           // x [length, n, 64]: output [length, n, 128]
//   const auto next = lstm(y, state);               // goes on where x ended
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/nn/mode.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

/// What a step makes of a = W_ih x + b_ih and b = W_hh h + b_hh, s being the sigmoid:
enum class Recurrence : uint8_t {
  kTanh,  ///< h = tanh(a + b)
  kRelu,  ///< h = max(a + b, 0)
  kLstm,  ///< i, f, g, o = parts of a + b; c = s(f) c + s(i) tanh(g); h = s(o) tanh(c)
  kGru,   ///< r, z = s(parts of a + b); n = tanh(a_n + r b_n); h = (1 - z) n + z h
};

/// One step. All parameters begin uniform within 1/sqrt(size).
struct TENON_API RecurrentCell {
  RecurrentCell(Recurrence kind, int64_t inputs, int64_t size, bool bias = true);
  RecurrentCell(Recurrence kind, int64_t inputs, int64_t size, const Key& key, bool bias = true)
      : RecurrentCell(kind, inputs, size, bias) {
    fields::initialise(*this, key);
  }
  /// x [n, inputs] and the state before (none: zeros), h and of an LSTM also c, each [n, size], to
  /// the state after; h is the output.
  std::vector<Tensor> operator()(const Tensor& x, const std::vector<Tensor>& state = {}) const;

  /// The two halves of a step: what the input gives, [.., gates size], for all steps at once; and
  /// a state, from that and the state before.
  Tensor of_inputs(const Tensor& x) const;
  std::vector<Tensor> step(const Tensor& of_inputs, const std::vector<Tensor>& state) const;

  Parameter weight_ih;                        ///< [gates size, inputs]; gates: 1, of LSTM 4, GRU 3
  Parameter weight_hh;                        ///< [gates size, size]
  std::optional<Parameter> bias_ih, bias_hh;  ///< [gates size]
  Recurrence kind;
  TENON_FIELDS(weight_ih, weight_hh, bias_ih, bias_hh, kind)
};

struct RecurrentOptions {
  int64_t layers = 1;
  bool bias = true;
  bool batch_first = false;    ///< sequences are [n, length, ..] in place of [length, n, ..]
  double dropout = 0;          ///< of what goes from layer to layer, while the mode is training
  bool bidirectional = false;  ///< a second cell a layer reads from the end
};

/// Outputs [length, n, directions size] of the last layer, and the state after the last step: h,
/// and of an LSTM c, each [layers directions, n, size].
struct RecurrentResult {
  Tensor output;
  std::vector<Tensor> state;
};

/// Layers of cells along a sequence x [length, n, inputs], or [length, inputs] of one alone, whose
/// results lack n too. Its parameters are called weight_ih_l0, weight_hh_l0_reverse, and so on.
struct TENON_API Recurrent {
  Recurrent(Recurrence kind, int64_t inputs, int64_t size, const RecurrentOptions& options = {});
  Recurrent(Recurrence kind, int64_t inputs, int64_t size, const Key& key,
            const RecurrentOptions& options = {})
      : Recurrent(kind, inputs, size, options) {
    fields::initialise(*this, key);
  }
  /// `state` as a result's; none: zeros.
  RecurrentResult operator()(const Tensor& x, const std::vector<Tensor>& state = {},
                             const Mode& mode = {}) const;

  std::vector<RecurrentCell> cells;  ///< by layer, then direction
  bool batch_first, bidirectional;
  Fixed dropout;
  TENON_FIELDS(cells, batch_first, bidirectional, dropout)
  /// "cells.3.bias_hh" is bias_hh_l1_reverse.
  std::string name_of(const std::string& field) const;
};

struct RNN : Recurrent {
  RNN(int64_t inputs, int64_t size, const RecurrentOptions& options = {}, bool relu = false)
      : Recurrent(relu ? Recurrence::kRelu : Recurrence::kTanh, inputs, size, options) {}
  RNN(int64_t inputs, int64_t size, const Key& key, const RecurrentOptions& options = {},
      bool relu = false)
      : RNN(inputs, size, options, relu) {
    fields::initialise(*this, key);
  }
};
struct LSTM : Recurrent {
  LSTM(int64_t inputs, int64_t size, const RecurrentOptions& options = {})
      : Recurrent(Recurrence::kLstm, inputs, size, options) {}
  LSTM(int64_t inputs, int64_t size, const Key& key, const RecurrentOptions& options = {})
      : LSTM(inputs, size, options) {
    fields::initialise(*this, key);
  }
};
struct GRU : Recurrent {
  GRU(int64_t inputs, int64_t size, const RecurrentOptions& options = {})
      : Recurrent(Recurrence::kGru, inputs, size, options) {}
  GRU(int64_t inputs, int64_t size, const Key& key, const RecurrentOptions& options = {})
      : GRU(inputs, size, options) {
    fields::initialise(*this, key);
  }
};

}  // namespace tenon::nn
