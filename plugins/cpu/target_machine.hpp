// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's view of a target.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "plugins/cpu/target.hpp"

namespace tenon::cpu {

/// One for each compilation: it is not thread-safe. Throws sdk::Failure.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetSpec& target);

}  // namespace tenon::cpu
