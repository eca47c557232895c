// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/programs/twin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sdk/program/op_info.hpp"
#include "sdk/program/verify.hpp"

namespace tenon::conformance::abi::programs {
namespace {

/// A program's block, to be written to.
class Block {
 public:
  explicit Block(sdk::Program& program) : view_(program.view()) {}

  const sdk::ProgramView& view() const { return view_; }
  tn_program& header() { return const_cast<tn_program&>(view_.header()); }
  tn_op& op(uint32_t i) { return const_cast<tn_op&>(view_.op(i)); }
  std::span<uint32_t> operands(uint32_t i) {
    const auto all = view_.operands(view_.op(i));
    return {const_cast<uint32_t*>(all.data()), all.size()};
  }

 private:
  sdk::ProgramView view_;
};

/// Its axes in another order, or one of them shorter: what threads there are, and nothing else.
std::string change_workgroup(Block& block, Random& random) {
  uint32_t(&sizes)[3] = block.header().workgroup;
  const std::array<uint32_t, 3> before = {sizes[0], sizes[1], sizes[2]};
  const uint64_t axis = random.below(3);
  if (random.chance(50))
    std::swap(sizes[axis], sizes[(axis + 1) % 3]);
  else
    sizes[axis] = std::max(sizes[axis] / 2, 1u);
  const uint32_t subgroup = block.header().subgroup_size;
  const bool is_whole = !subgroup || sizes[0] * sizes[1] * sizes[2] % subgroup == 0;
  if (!is_whole || std::ranges::equal(sizes, before)) return {};
  return fmt::format("a workgroup of {} x {} x {}", sizes[0], sizes[1], sizes[2]);
}

std::string change_constant(Block& block, uint32_t i, Random& random) {
  tn_op& op = block.op(i);
  const uint32_t bits = sdk::dtype_bytes(op.dtype) * 8;
  // A number nearby, or one that is alike in its low half only.
  const uint64_t bit = op.dtype == TN_DTYPE_BOOL || random.chance(50) ? 0 : random.below(bits);
  op.imm ^= uint64_t{1} << bit;
  return fmt::format("op {}: bit {} of a constant turned", i, bit);
}

std::string change_op(Block& block, uint32_t i) {
  constexpr std::pair<uint16_t, uint16_t> kPairs[] = {
      {TN_OP_ADD, TN_OP_SUB}, {TN_OP_MIN, TN_OP_MAX},     {TN_OP_AND, TN_OP_OR},
      {TN_OP_XOR, TN_OP_ADD}, {TN_OP_CMPLT, TN_OP_CMPNE}, {TN_OP_SHL, TN_OP_SHR}};
  tn_op& op = block.op(i);
  for (const auto& [one, other] : kPairs) {
    if (op.op != one && op.op != other) continue;
    const uint16_t before = std::exchange(op.op, op.op == one ? other : one);
    return fmt::format("op {}: {} for {}", i, sdk::op_text(op.op), sdk::op_text(before));
  }
  return {};
}

std::string change_order(Block& block, uint32_t i) {
  const auto operands = block.operands(i);
  const sdk::OpInfo& info = *sdk::op_info(block.op(i).op);
  if (operands.size() != 2 || !sdk::is_elementwise(info) || operands[0] == operands[1] ||
      (info.flags & sdk::kOpCommutes))
    return {};
  std::swap(operands[0], operands[1]);
  return fmt::format("op {}: its operands exchanged", i);
}

/// Another value of the same dtype that comes before.
std::string change_operand(Block& block, uint32_t i, Random& random) {
  const auto operands = block.operands(i);
  if (operands.empty()) return {};
  uint32_t& operand = operands[random.below(operands.size())];
  const tn_op before = block.op(operand);
  std::vector<uint32_t> others;
  for (uint32_t k = 0; k < i; ++k) {
    const tn_op& op = block.op(k);
    const bool is_alike = op.dtype == before.dtype && op.lanes == before.lanes &&
                          (op.op == TN_OP_PARAM) == (before.op == TN_OP_PARAM);
    if (is_alike && k != operand) others.push_back(k);
  }
  if (others.empty()) return {};
  const uint32_t old = std::exchange(operand, random.pick(others));
  return fmt::format("op {}: %{} for %{}", i, operand, old);
}

std::string change_one(Block& block, Random& random) {
  constexpr uint32_t kOfWorkgroups = 12;  // percent
  if (random.chance(kOfWorkgroups)) return change_workgroup(block, random);
  const auto i = static_cast<uint32_t>(random.below(block.view().op_count()));
  const tn_op& op = block.op(i);
  if (op.op == TN_OP_CONST) return change_constant(block, i, random);
  switch (random.below(3)) {
    case 0:
      return change_op(block, i);
    case 1:
      return change_order(block, i);
    default:
      return change_operand(block, i, random);
  }
}

}  // namespace

Twin draw_twin(const sdk::Program& program, Random& random) {
  constexpr int kTries = 40;
  for (int i = 0; i < kTries; ++i) {
    Twin twin{sdk::Program(program.view()), {}};
    Block block(twin.program);
    twin.change = change_one(block, random);
    if (!twin.change.empty() &&
        sdk::verify_program(twin.program.get(), twin.program.size()).empty())
      return twin;
  }
  return {};
}

}  // namespace tenon::conformance::abi::programs
