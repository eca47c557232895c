// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of opcodes and the layout of instructions: SPIR-V's specification, 2.3 and 3.
#include "sdk/spirv/module.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>

namespace tenon::sdk {
namespace {

using Words = std::vector<uint32_t>;

constexpr size_t kHeader = 5;  ///< words
constexpr uint32_t kExecutionMode = 16;
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

}  // namespace

Words completed(const Words& module) {
  Words out(module.begin(), module.begin() + kHeader);
  each_instruction(module, [&](uint32_t op, std::span<const uint32_t> words) {
    if (op == kExecutionMode && std::ranges::count(kWidthModes, words[2])) {
      for (const uint32_t width : words.subspan(3)) add(out, op, {words[1], words[2], width});
    } else {
      out.insert(out.end(), words.begin(), words.end());
    }
  });
  return out;
}

}  // namespace tenon::sdk
