// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is asked of a device that holds memory and computes nothing, beside the rules and sequences
// of layer 4: named checks, as cells "memory.<name>".
#pragma once

#include "conformance/cases/case.hpp"

namespace tenon::conformance::abi {

/// Names of the checks, in the order of their cases.
const std::vector<std::string>& memory_check_names();

/// The case of the n-th check; it has it as its sequence's check. Throws kInvalid after the last.
Case memory_case(uint64_t seed, uint64_t number);

/// Of the sequence's check: its name if it is one of memory_check_names(), else "".
std::string memory_check_of(const Case& test);

}  // namespace tenon::conformance::abi
