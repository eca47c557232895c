// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/lower/dot.hpp"

#include "core/ir/scalar_op.hpp"
#include "sdk/program/dot.hpp"

namespace tenon::test {

std::vector<uint64_t> dot(const sdk::ProgramView& program, const tn_op& op,
                          const std::vector<uint64_t>& x, const std::vector<uint64_t>& y,
                          const std::vector<uint64_t>& z) {
  const auto dtype = static_cast<DType>(op.dtype);
  const uint32_t neighbours = sdk::dot_neighbours(program, op);
  const auto factor = [&](const std::vector<uint64_t>& lanes, uint32_t operand, uint32_t l) {
    const auto from = static_cast<DType>(program.op(program.operands(op)[operand]).dtype);
    return cast(Scalar{from, lanes[l % lanes.size()]}, dtype);
  };
  std::vector<uint64_t> out;
  for (uint32_t l = 0; l < op.lanes; ++l) {
    Scalar total{dtype, z[l]};
    for (uint32_t k = l * neighbours; k < (l + 1) * neighbours; ++k) {
      const Scalar product = evaluate_scalar(Op::MUL, dtype, {factor(x, 0, k), factor(y, 1, k)});
      total = evaluate_scalar(Op::ADD, dtype, {total, product});
    }
    out.push_back(total.bits);
  }
  return out;
}

}  // namespace tenon::test
