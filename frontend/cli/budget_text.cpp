// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/cli/budget_text.hpp"

#include <algorithm>
#include <map>

#include "core/budget/print.hpp"

namespace tenon::cli {

std::string budget_text(const LoweredKernel& kernel, const TargetCompiler& target) {
  std::map<std::string, Expr> symbols;
  for (const Expr& size : kernel.grid) size.collect_symbols(symbols);
  for (const LaunchArgument& argument : kernel.arguments) {
    if (argument.kind == LaunchArgument::Kind::kSymbol) argument.value.collect_symbols(symbols);
  }
  std::map<std::string, int64_t> values;
  for (const auto& [name, symbol] : symbols) values[name] = symbol.max();

  const sdk::ProgramView program = kernel.program.view();
  BudgetLaunch launch;
  for (size_t axis = 0; axis < 3; ++axis)
    launch.grid[axis] =
        static_cast<uint64_t>(std::max<int64_t>(1, kernel.grid[axis].evaluate(values)));
  launch.scalars.resize(program.param_count());
  size_t argument = 0;
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    if (program.param(i).kind == TN_PARAM_ALLOC) continue;
    if (program.param(i).kind == TN_PARAM_SCALAR)
      launch.scalars[i] =
          static_cast<uint64_t>(kernel.arguments.at(argument).value.evaluate(values));
    ++argument;
  }
  const tn_compile_report report = target.compile(*kernel.program.get()).report();
  launch.compiled = {report.registers, report.spills, report.shared_bytes};
  const Capabilities& device = target.capabilities();
  return print(budget_of(program, launch, device), program, device);
}

}  // namespace tenon::cli
