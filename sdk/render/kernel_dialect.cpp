// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/render/kernel_dialect.hpp"

#include <fmt/format.h>

namespace tenon::sdk {

std::string KernelDialect::header(const ProgramView& program) const {
  const std::string_view space = data_.pointer_space[TN_SPACE_GLOBAL];
  std::string params, begin;
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind == TN_PARAM_ALLOC) continue;
    const std::string_view type = memory_type(static_cast<uint8_t>(param.dtype));
    const std::string name = param_name(program, param);
    if (!params.empty()) params += ", ";
    if (param.kind == TN_PARAM_SCALAR) {
      params += fmt::format("const {} {}", type, name);
      continue;
    }
    const std::string_view constant = param.access & TN_ACCESS_WRITE ? "" : "const ";
    const std::string_view alone = param.access & TN_ACCESS_NOALIAS ? " restrict" : "";
    params += fmt::format("{}{}* m{}, const {} o{}", space, byte_, i, offset_, i);
    begin += fmt::format("  {0}{1}{2}*{3} const {4} = ({0}{1}{2}*)(m{5} + o{5});\n", space,
                         constant, type, alone, name, i);
  }
  return fmt::format("{} {}({}) {{\n{}", opening(program), function_name(program), params, begin);
}

std::string KernelDialect::allocation(const ProgramView& program, const tn_param& param,
                                      const AllocationPlace& place) const {
  // NOLINTNEXTLINE: skips CDialect, which has no shared memory
  const std::string array = Dialect::allocation(program, param, place);
  return fmt::format("__attribute__((aligned({}))) {}", param.alignment, array);
}

}  // namespace tenon::sdk
