// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// First the block (offsets, counts, strings, params), then the ops one by one (verify_ops.cpp).
#include "sdk/program/verify.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <unordered_set>

#include "sdk/program/op_info.hpp"
#include "sdk/program/verify_ops.hpp"
#include "sdk/program/view.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

struct Section {
  const char* name;
  uint64_t offset, count, stride, alignment;
};

std::string check_section(const Section& s, uint64_t total) {
  if (s.offset % s.alignment) {
    return fmt::format("{}: expected an offset aligned to {}, got {}", s.name, s.alignment,
                       s.offset);
  }
  if (s.offset < sizeof(tn_program) || s.offset > total || s.count * s.stride > total - s.offset) {
    return fmt::format("{}: expected {} bytes inside [{}, {}), got offset {}", s.name,
                       s.count * s.stride, sizeof(tn_program), total, s.offset);
  }
  return {};
}

std::string check_limit(const char* what, uint64_t value, uint64_t limit) {
  return value <= limit ? std::string()
                        : fmt::format("{}: expected at most {}, got {}", what, limit, value);
}

std::string check_header(const tn_program& p, size_t size) {
  if (p.magic != TN_PROGRAM_MAGIC) {
    return fmt::format("header: expected magic {:#x}, got {:#x}", TN_PROGRAM_MAGIC, p.magic);
  }
  if (p.version < 1 || p.version > TN_PROGRAM_VERSION) {
    return fmt::format("header: expected format version 1 to {}, got {}", TN_PROGRAM_VERSION,
                       p.version);
  }
  if (p.header_size != sizeof(tn_program) || p.param_stride != sizeof(tn_param) ||
      p.op_stride != sizeof(tn_op)) {
    return fmt::format("header: expected sizes {} {} {} of header, param and op, got {} {} {}",
                       sizeof(tn_program), sizeof(tn_param), sizeof(tn_op), p.header_size,
                       p.param_stride, p.op_stride);
  }
  if (p.total_size != size) {
    return fmt::format("header: expected total_size {}, got {}", size, p.total_size);
  }
  if (p.flags || p.reserved[0] || p.reserved[1]) return "header: expected reserved fields to be 0";
  for (uint32_t threads : p.workgroup) {
    if (threads < 1) return "header: expected a workgroup of at least 1 each, got 0";
  }
  const uint64_t threads = uint64_t{p.workgroup[0]} * p.workgroup[1];
  if (threads > kMaxProgramThreads || threads * p.workgroup[2] > kMaxProgramThreads) {
    return fmt::format("header: expected a workgroup of at most {} threads, got {} x {} x {}",
                       kMaxProgramThreads, p.workgroup[0], p.workgroup[1], p.workgroup[2]);
  }
  if (p.subgroup_size > 1024 || (p.subgroup_size & (p.subgroup_size - 1))) {
    return fmt::format("header: expected a subgroup_size that is 0 or a power of two, got {}",
                       p.subgroup_size);
  }
  if (auto e = check_limit("params", p.param_count, kMaxProgramParams); !e.empty()) return e;
  if (auto e = check_limit("ops", p.op_count, kMaxProgramOps); !e.empty()) return e;
  const Section sections[] = {
      {"params", p.params, p.param_count, p.param_stride, alignof(tn_param)},
      {"ops", p.ops, p.op_count, p.op_stride, alignof(tn_op)},
      {"operands", p.operands, p.operand_count, sizeof(uint32_t), alignof(uint32_t)},
      {"data", p.data, p.data_size, 1, 1}};
  for (const Section& section : sections) {
    if (auto e = check_section(section, size); !e.empty()) return e;
  }
  return {};
}

/// A C identifier inside the data section.
bool is_name(const tn_program& p, uint32_t offset) {
  if (offset < p.data || offset - p.data >= p.data_size) return false;
  const char* begin = reinterpret_cast<const char*>(&p) + offset;
  const size_t room = p.data_size - (offset - p.data);
  const auto* end = static_cast<const char*>(std::memchr(begin, 0, room));
  return end && is_program_name({begin, static_cast<size_t>(end - begin)});
}

std::string check_param(const tn_param& p) {
  const auto dtype = static_cast<uint8_t>(p.dtype);
  if (p.dtype > 0xff || !is_usable(dtype)) {
    return fmt::format("expected a known dtype, got {}", p.dtype);
  }
  if (p.alignment == 0 || (p.alignment & (p.alignment - 1)) || p.alignment > 1u << 20) {
    return fmt::format("expected an alignment that is a power of two, got {}", p.alignment);
  }
  if (p.alignment % dtype_bytes(dtype)) {
    return fmt::format("expected an alignment of at least one element, got {}", p.alignment);
  }
  if (p.access & ~(TN_ACCESS_READ | TN_ACCESS_WRITE | TN_ACCESS_NOALIAS)) {
    return fmt::format("expected access bits in 7, got {}", p.access);
  }
  const bool bounded = p.kind == TN_PARAM_SCALAR && is_integer(dtype);
  if (!bounded && (p.minimum || p.maximum)) {
    return "expected minimum and maximum 0 where it is not an integer scalar";
  }
  if (bounded && p.minimum > p.maximum) {
    return fmt::format("expected minimum <= maximum, got {} and {}", p.minimum, p.maximum);
  }
  const uint64_t most = (uint64_t{1} << 62) / dtype_bytes(dtype);
  switch (p.kind) {
    case TN_PARAM_BUFFER:
      if (p.space != TN_SPACE_GLOBAL && p.space != TN_SPACE_CONSTANT) {
        return fmt::format("expected a buffer in space 1 or 2, got {}", p.space);
      }
      if (p.space == TN_SPACE_CONSTANT && (p.access & TN_ACCESS_WRITE)) {
        return "expected a constant buffer without write access";
      }
      return p.count <= most ? std::string() : fmt::format("count {} overflows", p.count);
    case TN_PARAM_SCALAR:
      if (p.space != TN_SPACE_CONSTANT || p.access != TN_ACCESS_READ || p.count != 1) {
        return "expected a scalar in constant space, read, with count 1";
      }
      return {};
    case TN_PARAM_ALLOC:
      if (p.space != TN_SPACE_SHARED && p.space != TN_SPACE_REGISTER &&
          p.space != TN_SPACE_SCRATCH) {
        return fmt::format("expected an allocation in space 3, 4 or 5, got {}", p.space);
      }
      if (p.access != (TN_ACCESS_READ | TN_ACCESS_WRITE | TN_ACCESS_NOALIAS)) {
        return fmt::format("expected an allocation with access 7, got {}", p.access);
      }
      if (p.count < 1 || p.count > kMaxAllocationBytes / dtype_bytes(dtype)) {
        return fmt::format("expected an allocation of 1 to {} bytes, got {} elements",
                           kMaxAllocationBytes, p.count);
      }
      return {};
    default:
      return fmt::format("expected kind 1, 2 or 3, got {}", p.kind);
  }
}

std::string check_allocations(const ProgramView& program) {
  uint64_t ends[TN_SPACE_CLUSTER + 1] = {};
  const auto places = allocation_places(program);
  for (uint32_t i = 0; i < places.size(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind != TN_PARAM_ALLOC) continue;
    ends[param.space] = places[i].offset + places[i].bytes;
    if (ends[param.space] > kMaxAllocationBytes) {
      return fmt::format("param {}: expected allocations of one space within {} bytes, got {}", i,
                         kMaxAllocationBytes, ends[param.space]);
    }
  }
  const tn_program& p = program.header();
  if (p.shared_bytes != ends[TN_SPACE_SHARED] || p.scratch_bytes != ends[TN_SPACE_SCRATCH]) {
    return fmt::format("header: expected shared_bytes {} and scratch_bytes {}, got {} and {}",
                       ends[TN_SPACE_SHARED], ends[TN_SPACE_SCRATCH], p.shared_bytes,
                       p.scratch_bytes);
  }
  return {};
}

}  // namespace

bool is_program_name(std::string_view text) {
  if (text.empty() || text.size() > 255 || (text[0] >= '0' && text[0] <= '9')) return false;
  for (char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

std::string verify_program(const void* bytes, size_t size) {
  if (!bytes || reinterpret_cast<uintptr_t>(bytes) % 16) {
    return "program: expected a 16-byte aligned block";
  }
  if (size < sizeof(tn_program) || size > kMaxProgramBytes) {
    return fmt::format("program: expected {} to {} bytes, got {}", sizeof(tn_program),
                       kMaxProgramBytes, size);
  }
  const auto& header = *static_cast<const tn_program*>(bytes);
  if (auto e = check_header(header, size); !e.empty()) return e;
  if (!is_name(header, header.name)) return "header: expected a C identifier as name";
  const ProgramView program(&header);
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    if (!is_name(header, program.param(i).name)) {
      return fmt::format("param {}: expected a C identifier as name", i);
    }
    if (auto e = check_param(program.param(i)); !e.empty()) {
      return fmt::format("param {} {}: {}", i, program.string(program.param(i).name), e);
    }
    if (!names.insert(program.string(program.param(i).name)).second) {
      return fmt::format("param {}: expected a unique name, got {} again", i,
                         program.string(program.param(i).name));
    }
  }
  if (auto e = check_allocations(program); !e.empty()) return e;
  return verify_ops(program);
}

Program load_program(std::span<const std::byte> bytes) {
  Program program(bytes.data(), bytes.size());
  const std::string error = verify_program(program.get(), program.size());
  if (!error.empty()) throw Failure(TN_ERROR_INCOMPATIBLE, error);
  return program;
}

}  // namespace tenon::sdk
