// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches over tensors, as nodes of a graph; names and meaning are JAX's.
//
//   const auto [last, sums] = scan([&](const auto& carried, const auto& rows) {
//     const Tensor h = (rows[0] + carried[0].matmul(w)).tanh();
//     return Scanned{{h}, {h.sum()}};
//   }, {h0}, {xs});
//
// A body is called once, when the loop is made, with tensors that have types but no values; each
// trip then runs what it gave. Tensors of outside that it uses are fixed for all trips, and have
// gradients like all others; what it computes of them alone is computed once, before the loop. A
// carried value keeps its dtype and shape; a number in place of one of rank 0 takes its dtype.
//
// Gradients are kept states, and trips that go backward (core/autodiff): they need a bound on the
// number of trips, which a number, a size, or the minimum of something and one of these is. Errors
// are kInvalid and name what differs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

/// Carried values, and what a step of a scan gives beside them, or all steps stacked.
struct Scanned {
  std::vector<Tensor> carried;
  std::vector<Tensor> outputs;
};

struct ScanOptions {
  bool reverse = false;             ///< from the last row to the first; outputs stay in place
  std::optional<Size> length = {};  ///< the number of steps, where there are no inputs
};

/// Steps along axis 0 of the inputs [n, ..]: each takes what the one before carried, and a row [..]
/// of each input. Returns the last carried values, and the outputs of all steps as [n, ..].
TENON_API Scanned scan(const std::function<Scanned(const std::vector<Tensor>& carried,
                                                   const std::vector<Tensor>& rows)>& body,
                       const std::vector<Tensor>& carried, const std::vector<Tensor>& inputs,
                       const ScanOptions& options = {});

/// carried = body(i, carried) for i = begin, .. end - 1, an i64 []; begin and end are integers of
/// rank 0 that may depend on values.
TENON_API std::vector<Tensor> fori_loop(
    const Tensor& begin, const Tensor& end,
    const std::function<std::vector<Tensor>(const Tensor& i, const std::vector<Tensor>& carried)>&
        body,
    const std::vector<Tensor>& carried);

struct WhileOptions {
  /// It ends after as many trips. Gradients need this: they keep as many states.
  std::optional<int64_t> max_trips = {};
};

/// carried = body(carried) while condition(carried), a bool []. The trip whose condition is false
/// runs too, and is undone.
TENON_API std::vector<Tensor> while_loop(
    const std::function<Tensor(const std::vector<Tensor>& carried)>& condition,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& carried)>& body,
    const std::vector<Tensor>& carried, const WhileOptions& options = {});

/// yes(operands) where the condition, a bool [], is true, else no(operands); one of them is run.
/// Both give tensors of the same types.
TENON_API std::vector<Tensor> cond(
    const Tensor& condition,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& operands)>& yes,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& operands)>& no,
    const std::vector<Tensor>& operands = {});

}  // namespace tenon
