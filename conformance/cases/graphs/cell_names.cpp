// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/graphs/cell_names.hpp"

#include "conformance/cases/abi/memory_cases.hpp"
#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/sequence.hpp"
#include "conformance/cases/graphs/cells.hpp"
#include "core/ir/dtype.hpp"

namespace tenon::conformance::graphs {

const std::set<std::string, std::less<>>& cell_ops() {
  static const std::set<std::string, std::less<>> names = [] {
    std::set<std::string, std::less<>> out{"graph", "api.sequence", "api.program"};
    for (const std::string_view family : abi::kFamilies) out.insert("api." + std::string(family));
    for (const CellSpec& spec : all_cells()) out.insert(describe(spec).op);
    for (const std::string& name : abi::abi_checks()) out.insert("api." + name);
    for (const std::string& name : abi::memory_check_names()) out.insert("memory." + name);
    return out;
  }();
  return names;
}

bool is_cell_dtype(std::string_view name) {
  const auto dtype = dtype_from_name(name);
  return name == "-" || (dtype && *dtype != DType::kVoid);
}

}  // namespace tenon::conformance::graphs
