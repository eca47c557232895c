// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/scalars.hpp"

#include <span>

#include "core/interval/ops.hpp"
#include "core/ir/op.hpp"
#include "core/ir/scalar_op.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::abi {

uint64_t evaluate_op(uint16_t op, uint8_t from, uint8_t to, uint64_t a, uint64_t b, uint64_t c) {
  const auto code = static_cast<Op>(op);
  const auto dtype = static_cast<DType>(from);
  TN_REQUIRE(is_elementwise(code) && takes(op_info(code).types, dtype),
             "[program] {} of {} is not modelled", op_info(code).text, dtype_name(dtype));
  const Scalar operands[] = {{dtype, a}, {dtype, b}, {dtype, c}};
  const auto arity = static_cast<size_t>(op_info(code).arity);
  return evaluate_scalar(code, static_cast<DType>(to), std::span(operands, arity)).bits;
}

double least_normal(uint8_t dtype) {
  return reference::float_facts(static_cast<DType>(dtype)).min_normal();
}

}  // namespace tenon::conformance::abi
