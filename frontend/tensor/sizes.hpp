// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes that are symbols: as dimensions of nodes, and the values that tensors tell. Internal to the
// library.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/tensor/state.hpp"
#include "tenon/size.hpp"

namespace tenon {

Dim dim_of(const Size& size);
Size size_of(const Dim& dim);
Shape to_shape(const Sizes& sizes);
Sizes to_sizes(const Shape& shape);
/// Throws kInvalid, naming the symbols, for one that has any.
int64_t fixed_size(const char* op, const Dim& dim);
/// The same of an axis, which the message names too.
int64_t fixed_axis(const char* op, const Tensor& x, int axis);
/// a <= b for all values of their symbols.
bool at_most(const Dim& a, const Dim& b);

/// What owns the buffer of a PARAM of this shape: the buffer itself, or what knows beside the
/// values of the shape's symbols, or how it was computed.
BufferRef owner_of(BufferRef buffer, const Shape& shape, const SymbolValues& symbols, Made made);
/// Values of the symbols in the shape of a PARAM that owns a buffer; none of other nodes.
const SymbolValues& symbols_of(const Node& node);
/// How many hold the memory behind a PARAM: nodes, runs, and PARAMs of other sizes.
long owners_of_memory(const Node& node);
/// Adds those of a PARAM. Throws kInvalid where one has another value already.
void add_symbols(const char* op, const Node& node, SymbolValues& symbols);

/// The symbols of some nodes. `op` is for messages.
class SymbolsUsed {
 public:
  explicit SymbolsUsed(const char* op) : op_(op) {}
  /// Throws kInvalid for a symbol of other bounds than before.
  void add(const Node& node);
  std::vector<Expr> list() const;
  /// Of these symbols alone. Throws kInvalid for one that has none.
  SymbolValues values(const SymbolValues& known) const;

 private:
  void add(const Dim& dim);
  const char* op_;
  std::map<std::string, Expr> used_;
};

/// Of params and of what is below the outputs.
std::vector<Expr> symbols_in(const char* op, const Graph& graph);

/// Of a tensor that is there.
std::vector<int64_t> shape_of_value(const Tensor& x);
/// How many elements each result of a reduction combines.
Dim count_over(const Tensor& x, const std::vector<int>& axes);
/// A number of elements in the dtype and shape of another tensor.
Tensor count_as(const Tensor& like, const Dim& count);

}  // namespace tenon
