// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opcodes and the layout of instructions are from the SPIR-V specification, 2.3 and 3.
#include "sdk/spirv/module.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <span>

#include "sdk/program/dtype_info.hpp"
#include "sdk/program/view.hpp"

namespace tenon::sdk {
namespace {

using Words = std::vector<uint32_t>;

constexpr size_t kHeader = 5, kBound = 3;  ///< words of the header; index of the id bound
constexpr uint32_t kExecutionMode = 16, kTypeVoid = 19, kTypeInt = 21, kTypeFloat = 22,
                   kConstant = 43, kTypeMatrix = 4456;
constexpr uint32_t kWidthModes[] = {4459, 4461, 4462};  ///< that sdk/render/glsl_dialect.cpp prints

template <class Visit>
void each_instruction(std::span<const uint32_t> module, const Visit& visit) {
  for (size_t at = kHeader; at < module.size(); at += module[at] >> 16)
    visit(module[at] & 0xffff, module.subspan(at, module[at] >> 16));
}

void add(Words& out, uint32_t op, std::initializer_list<uint32_t> operands) {
  out.push_back(op | static_cast<uint32_t>(1 + operands.size()) << 16);
  out.insert(out.end(), operands);
}

/// The opcode of the declaration of a scalar type, and its operands after the id.
Words scalar(uint32_t dtype) {
  const auto of = static_cast<uint8_t>(dtype);
  const uint32_t bits = 8 * dtype_bytes(of);
  if (of == TN_DTYPE_BF16) return {kTypeFloat, bits, 0};
  if (is_float(of)) return {kTypeFloat, bits};
  return {kTypeInt, bits, is_signed(of) ? 1u : 0u};
}

/// Declarations of matrix types, and of the types and constants that they use. `bound` is the id
/// bound. Includes all scalar types, as a module may declare each only once. Empty without
/// matrices.
Words matrix_types(const Words& module, uint32_t& bound) {
  std::map<Words, uint32_t> scalars;  // ids
  std::map<uint32_t, uint32_t> constants;
  Words types;
  const auto id_of = [&](auto& ids, const auto& key) {
    const auto [row, is_new] = ids.try_emplace(key, bound);
    bound += is_new;
    return row->second;
  };
  each_instruction(module, [&](uint32_t op, std::span<const uint32_t> words) {
    if (op != kTypeInt && op != kTypeFloat) return;
    Words key = {op};
    key.insert(key.end(), words.begin() + 2, words.end());
    scalars[key] = words[1];
  });
  each_instruction(module, [&](uint32_t op, std::span<const uint32_t> words) {
    if (op != kTypeMatrix) return;
    types.insert(types.end(), {words[0], words[1], id_of(scalars, scalar(words[2]))});
    for (const uint32_t number : words.subspan(3)) types.push_back(id_of(constants, number));
  });
  if (types.empty()) return {};
  const uint32_t of_constants = id_of(scalars, scalar(TN_DTYPE_U32));
  Words out;
  for (const auto& [key, id] : scalars) {
    out.insert(out.end(), {key[0] | static_cast<uint32_t>(key.size() + 1) << 16, id});
    out.insert(out.end(), key.begin() + 1, key.end());
  }
  for (const auto& [number, id] : constants) add(out, kConstant, {of_constants, id, number});
  out.insert(out.end(), types.begin(), types.end());
  return out;
}

}  // namespace

Words completed(const Words& module) {
  Words out(module.begin(), module.begin() + kHeader);
  const Words types = matrix_types(module, out[kBound]);
  each_instruction(module, [&](uint32_t op, std::span<const uint32_t> words) {
    if (op == kTypeVoid) out.insert(out.end(), types.begin(), types.end());
    const bool is_moved = op == kTypeInt || op == kTypeFloat || op == kTypeMatrix;
    if (op == kExecutionMode && std::ranges::count(kWidthModes, words[2])) {
      for (const uint32_t width : words.subspan(3)) add(out, op, {words[1], words[2], width});
    } else if (types.empty() || !is_moved) {
      out.insert(out.end(), words.begin(), words.end());
    }
  });
  return out;
}

}  // namespace tenon::sdk
