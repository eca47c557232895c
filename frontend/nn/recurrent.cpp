// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/recurrent.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/support/error.hpp"
#include "frontend/nn/bias.hpp"
#include "frontend/nn/in_layer.hpp"
#include "frontend/nn/shape_text.hpp"
#include "tenon/control_flow.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"
#include "tenon/nn/sequential.hpp"

namespace tenon::nn {
namespace {

int64_t gates_of(Recurrence kind) {
  if (kind == Recurrence::kLstm) return 4;
  return kind == Recurrence::kGru ? 3 : 1;
}

size_t states_of(Recurrence kind) { return kind == Recurrence::kLstm ? 2 : 1; }

double bound_of(int64_t inputs, int64_t size) {
  TN_REQUIRE(inputs > 0 && size > 0, "[nn.recurrent] expected sizes above 0, got {} and {}", inputs,
             size);
  return 1 / std::sqrt(static_cast<double>(size));
}

/// Zeros where there is no state.
std::vector<Tensor> state_or_zeros(const std::vector<Tensor>& state, size_t count,
                                   const Sizes& shape, const Tensor& like) {
  if (state.empty())
    return std::vector<Tensor>(count, tenon::zeros(shape, like.dtype(), like.context()));
  TN_REQUIRE(state.size() == count, "[nn.recurrent] expected a state of {} tensors, got {}", count,
             state.size());
  for (const Tensor& part : state)
    TN_REQUIRE(part.sizes() == shape, "[nn.recurrent] expected a state {}, got {}",
               shape_text(shape), shape_text(part));
  return state;
}

}  // namespace

RecurrentCell::RecurrentCell(Recurrence recurrence, int64_t inputs, int64_t size, bool bias)
    : weight_ih({gates_of(recurrence) * size, inputs},
                uniform(-bound_of(inputs, size), bound_of(inputs, size))),
      weight_hh({gates_of(recurrence) * size, size},
                uniform(-bound_of(inputs, size), bound_of(inputs, size))),
      bias_ih(bias_of(bias, gates_of(recurrence) * size, bound_of(inputs, size))),
      bias_hh(bias_of(bias, gates_of(recurrence) * size, bound_of(inputs, size))),
      kind(recurrence) {}

Tensor RecurrentCell::of_inputs(const Tensor& x) const {
  const int64_t inputs = weight_ih.declared->shape[1];
  TN_REQUIRE(x.rank() >= 2 && x.sizes()[static_cast<size_t>(x.rank() - 1)] == Size(inputs),
             "[nn.recurrent] expected {} inputs in the last axis, got {}", inputs, shape_text(x));
  const Tensor product = x.matmul(weight_ih.matrix_transpose());
  return bias_ih ? product + *bias_ih : product;
}

std::vector<Tensor> RecurrentCell::step(const Tensor& a, const std::vector<Tensor>& state) const {
  const int64_t size = weight_hh.declared->shape[1];
  const Tensor& h = state.at(0);
  Tensor b = h.matmul(weight_hh.matrix_transpose());
  if (bias_hh) b = b + *bias_hh;
  const auto part = [&](const Tensor& of, int64_t i) {
    return of.slice({Slice{}, Slice{i * size, (i + 1) * size}});
  };
  if (kind == Recurrence::kTanh) return {(a + b).tanh()};
  if (kind == Recurrence::kRelu) return {(a + b).relu()};
  if (kind == Recurrence::kLstm) {
    const Tensor all = a + b;
    const Tensor c =
        part(all, 1).sigmoid() * state.at(1) + part(all, 0).sigmoid() * part(all, 2).tanh();
    return {part(all, 3).sigmoid() * c.tanh(), c};
  }
  const Tensor r = (part(a, 0) + part(b, 0)).sigmoid(), z = (part(a, 1) + part(b, 1)).sigmoid();
  const Tensor n = (part(a, 2) + r * part(b, 2)).tanh();
  return {n + z * (h - n)};
}

std::vector<Tensor> RecurrentCell::operator()(const Tensor& x,
                                              const std::vector<Tensor>& state) const {
  return in_layer(weight_ih, [&] {
    TN_REQUIRE(x.rank() == 2, "[nn.recurrent] expected [n, inputs], got {}", shape_text(x));
    const int64_t size = weight_hh.declared->shape[1];
    return step(of_inputs(x), state_or_zeros(state, states_of(kind), {x.sizes()[0], size}, x));
  });
}

Recurrent::Recurrent(Recurrence kind, int64_t inputs, int64_t size, const RecurrentOptions& options)
    : batch_first(options.batch_first),
      bidirectional(options.bidirectional),
      dropout(Dropout(options.dropout).rate) {
  TN_REQUIRE(options.layers > 0, "[nn.recurrent] expected one layer or more, got {}",
             options.layers);
  const int64_t directions = bidirectional ? 2 : 1;
  for (int64_t k = 0; k < options.layers * directions; ++k)
    cells.emplace_back(kind, k < directions ? inputs : directions * size, size, options.bias);
}

std::string Recurrent::name_of(const std::string& field) const {
  const size_t number = field.find('.') + 1, dot = field.find('.', number);
  if (number == 0 || dot == std::string::npos) return field;
  const size_t k = std::stoul(field.substr(number, dot - number));
  return fmt::format("{}_l{}{}", field.substr(dot + 1), bidirectional ? k / 2 : k,
                     bidirectional && k % 2 == 1 ? "_reverse" : "");
}

RecurrentResult Recurrent::operator()(const Tensor& given, const std::vector<Tensor>& state,
                                      const Mode& mode) const {
  TN_REQUIRE(!cells.empty(), "[nn.recurrent] expected one layer or more, got none: moved from?");
  return in_layer(cells[0].weight_ih, [&] {
    TN_REQUIRE(given.rank() == 2 || given.rank() == 3,
               "[nn.recurrent] expected a sequence {}, or [length, inputs] of one alone, got {}",
               batch_first ? "[n, length, inputs]" : "[length, n, inputs]", shape_text(given));
    const bool is_alone = given.rank() == 2;
    const size_t directions = bidirectional ? 2 : 1, count = states_of(cells[0].kind);
    Tensor x = given;
    if (is_alone)
      x = given.expand_dims(1);
    else if (batch_first)
      x = given.swapaxes(0, 1);
    const int64_t size = cells[0].weight_hh.declared->shape[1];
    const Sizes shape =
        is_alone ? Sizes{cells.size(), size} : Sizes{cells.size(), x.sizes()[1], size};
    std::vector<Tensor> begin = state_or_zeros(state, count, shape, x);
    if (is_alone)
      for (Tensor& part : begin) part = part.expand_dims(1);
    std::vector<std::vector<Tensor>> ends(count);
    for (size_t first = 0; first < cells.size(); first += directions) {
      std::vector<Tensor> outputs;
      for (size_t k = first; k < first + directions; ++k) {
        const RecurrentCell& cell = cells[k];
        std::vector<Tensor> own;
        for (const Tensor& part : begin) own.push_back(part.take(static_cast<int64_t>(k), 0));
        const auto body = [&](const std::vector<Tensor>& before, const std::vector<Tensor>& rows) {
          std::vector<Tensor> after = cell.step(rows[0], before);
          const Tensor h = after[0];
          return Scanned{std::move(after), {h}};
        };
        const Scanned run = scan(body, own, {cell.of_inputs(x)}, {.reverse = k > first});
        outputs.push_back(run.outputs[0]);
        for (size_t s = 0; s < count; ++s) ends[s].push_back(run.carried[s]);
      }
      x = bidirectional ? concatenate(outputs, -1) : outputs[0];
      if (first + directions < cells.size()) x = Dropout(dropout.value())(x, mode);
    }
    RecurrentResult out{x, {}};
    if (is_alone)
      out.output = x.squeeze(1);
    else if (batch_first)
      out.output = x.swapaxes(0, 1);
    for (const std::vector<Tensor>& parts : ends) {
      const Tensor whole = stack(parts, 0);
      out.state.push_back(is_alone ? whole.squeeze(1) : whole);
    }
    return out;
  });
}

}  // namespace tenon::nn
