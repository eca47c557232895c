// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs of any origin become for a device that does not claim all their optional ops: of
// three ops in one program, one that is not claimed would leave the others untried.
#pragma once

#include <functional>
#include <string>

#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi::programs {

struct StandIns {
  sdk::Program program;  ///< empty where nothing changed, or what came of it is not legal
  std::string changes;   ///< "max for min, add for sub"
};

/// Each elementwise op that is not claimed gives way to a principal one on the same operands. It
/// may mean something else: index arithmetic too changes.
StandIns with_stand_ins(const sdk::ProgramView& program,
                        const std::function<bool(tn_opcode)>& claims);

}  // namespace tenon::conformance::abi::programs
