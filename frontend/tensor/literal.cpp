// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/literal.hpp"

#include <fmt/ranges.h>

#include "core/support/error.hpp"
#include "tenon/make.hpp"

namespace tenon {

Literal::Literal(std::initializer_list<Literal> rows)
    : dtype_(rows.size() > 0 ? rows.begin()->dtype_ : DType::kVoid),
      shape_{static_cast<int64_t>(rows.size())} {
  if (rows.size() == 0) return;
  const std::vector<int64_t>& of_first = rows.begin()->shape_;
  shape_.insert(shape_.end(), of_first.begin(), of_first.end());
  for (const Literal& row : rows) {
    TN_REQUIRE(row.shape_ == of_first, "[tensor] expected rows of one shape, got [{}] and [{}]",
               fmt::join(of_first, ", "), fmt::join(row.shape_, ", "));
    if (row.dtype_ != dtype_) dtype_ = DType::kVoid;
    values_.insert(values_.end(), row.values_.begin(), row.values_.end());
  }
}

Tensor tensor(const Literal& literal, Context& context) {
  TN_REQUIRE(literal.dtype() != DType::kVoid,
             "[tensor] expected elements of one C++ type or a dtype, got {}",
             literal.values().empty() ? "no elements" : "different types");
  return tensor(literal, literal.dtype(), context);
}

Tensor tensor(const Literal& literal, DType dtype, Context& context) {
  Array array = Array::zeros(dtype, literal.shape());
  for (size_t i = 0; i < literal.values().size(); ++i)
    array.set(static_cast<int64_t>(i), literal.values()[i].as("tensor", dtype));
  return tensor(array, context);
}

}  // namespace tenon
