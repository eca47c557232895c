// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/checks/mutate_program.hpp"

#include <fmt/format.h>

#include <cstring>

namespace tenon::conformance::abi::checks {
namespace {

constexpr uint32_t kWild[] = {0, 1, 2, 3, 17, 255, 0x8000, 0x7fffffff, 0xffffffff, 0x10001, 9000};

/// The block's bytes, to be written to.
unsigned char* bytes_of(sdk::Program& program) {
  return reinterpret_cast<unsigned char*>(const_cast<tn_program*>(program.get()));
}

std::string change_header(sdk::Program& program, Random& random) {
  struct Field {
    const char* name;
    size_t offset;
  };
  constexpr Field kFields[] = {
      {"magic", offsetof(tn_program, magic)},
      {"version", offsetof(tn_program, version)},
      {"header_size", offsetof(tn_program, header_size)},
      {"total_size", offsetof(tn_program, total_size)},
      {"name", offsetof(tn_program, name)},
      {"flags", offsetof(tn_program, flags)},
      {"param_count", offsetof(tn_program, param_count)},
      {"param_stride", offsetof(tn_program, param_stride)},
      {"params", offsetof(tn_program, params)},
      {"op_count", offsetof(tn_program, op_count)},
      {"op_stride", offsetof(tn_program, op_stride)},
      {"ops", offsetof(tn_program, ops)},
      {"operand_count", offsetof(tn_program, operand_count)},
      {"operands", offsetof(tn_program, operands)},
      {"data_size", offsetof(tn_program, data_size)},
      {"data", offsetof(tn_program, data)},
      {"workgroup", offsetof(tn_program, workgroup)},
      {"shared_bytes", offsetof(tn_program, shared_bytes)},
      {"scratch_bytes", offsetof(tn_program, scratch_bytes)},
  };
  const Field& field = kFields[random.below(std::size(kFields))];
  const uint32_t value = kWild[random.below(std::size(kWild))];
  std::memcpy(bytes_of(program) + field.offset, &value, sizeof value);
  return fmt::format("{} is {}", field.name, value);
}

std::string change_op(sdk::Program& program, Random& random) {
  const auto at = static_cast<uint32_t>(random.below(program.get()->op_count));
  auto& op = reinterpret_cast<tn_op*>(bytes_of(program) + program.get()->ops)[at];
  const uint32_t wild = kWild[random.below(std::size(kWild))];
  switch (random.below(8)) {
    case 0:
      op.op = static_cast<uint16_t>(random.below(2) ? wild : random.below(200));
      return fmt::format("op {}: code {}", at, op.op);
    case 1:
      op.lanes = static_cast<uint16_t>(wild);
      return fmt::format("op {}: {} lanes", at, op.lanes);
    case 2:
      op.dtype = static_cast<uint8_t>(random.below(2) ? wild : random.below(26));
      return fmt::format("op {}: dtype {}", at, op.dtype);
    case 3:
      op.operand_count = static_cast<uint16_t>(wild);
      return fmt::format("op {}: {} operands", at, op.operand_count);
    case 4:
      op.operands = wild;
      return fmt::format("op {}: operands at {}", at, op.operands);
    case 5:
      op.imm = wild;
      return fmt::format("op {}: imm {}", at, op.imm);
    case 6:
      op.flags = wild;
      return fmt::format("op {}: flags {}", at, op.flags);
    default:
      op.op = TN_OP_END;
      return fmt::format("op {}: an END", at);
  }
}

std::string change_param(sdk::Program& program, Random& random) {
  const auto at = static_cast<uint32_t>(random.below(program.get()->param_count));
  auto& param = reinterpret_cast<tn_param*>(bytes_of(program) + program.get()->params)[at];
  uint32_t* fields[] = {&param.kind,   &param.dtype,     &param.space,
                        &param.access, &param.alignment, &param.name};
  constexpr const char* kNames[] = {"kind", "dtype", "space", "access", "alignment", "name"};
  const uint64_t which = random.below(std::size(fields) + 1);
  const uint32_t wild = kWild[random.below(std::size(kWild))];
  if (which == std::size(fields)) {
    param.count = uint64_t{wild} << random.below(33);
    return fmt::format("param {}: count {}", at, param.count);
  }
  *fields[which] = wild;
  return fmt::format("param {}: {} {}", at, kNames[which], wild);
}

std::string change_operand(sdk::Program& program, Random& random) {
  const auto at = static_cast<uint32_t>(random.below(program.get()->operand_count));
  auto* operands = reinterpret_cast<uint32_t*>(bytes_of(program) + program.get()->operands);
  operands[at] = random.below(2) ? kWild[random.below(std::size(kWild))]
                                 : static_cast<uint32_t>(random.below(program.get()->op_count + 1));
  return fmt::format("operand {} is {}", at, operands[at]);
}

std::string turn_bit(sdk::Program& program, Random& random) {
  const uint64_t at = random.below(program.size()), bit = random.below(8);
  bytes_of(program)[at] = static_cast<unsigned char>(bytes_of(program)[at] ^ (1u << bit));
  return fmt::format("byte {} bit {}", at, bit);
}

}  // namespace

Mutant mutate_program(const sdk::Program& program, Random& random) {
  for (;;) {
    Mutant mutant{program, {}};
    switch (random.below(5)) {
      case 0:
        mutant.change = change_header(mutant.program, random);
        break;
      case 1:
        mutant.change = change_op(mutant.program, random);
        break;
      case 2:
        mutant.change = change_param(mutant.program, random);
        break;
      case 3:
        mutant.change = change_operand(mutant.program, random);
        break;
      default:
        mutant.change = turn_bit(mutant.program, random);
        break;
    }
    // The block says itself how long it is, so nobody could see that it is shorter.
    if (mutant.program.get()->total_size <= program.size()) return mutant;
  }
}

}  // namespace tenon::conformance::abi::checks
