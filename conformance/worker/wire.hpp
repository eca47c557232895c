// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lines that a worker writes to its parent: a word and fields, apart by tabs.
//
//   ready  DEVICE NAME DECLARATION PLUGIN      the plugin is loaded
//   refused REASON                      it is not, and the worker ends
//   begin  INDEX ATTEMPT OP DTYPE LAYOUT       written before the device sees it: the journal
//   run    INDEX                        compiled and submitted; from here the run's time counts
//   end    INDEX STATUS KIND ULP INPUT TEXT
//   idle                                       the command is done
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/case.hpp"

namespace tenon::conformance {

std::string pack(const std::vector<std::string>& fields);  ///< with the newline
std::vector<std::string> unpack(std::string_view line);

std::vector<std::string> end_fields(uint64_t index, const Outcome& outcome);
/// Throws kInvalid for a line that no worker writes.
Outcome read_end(const std::vector<std::string>& fields);

}  // namespace tenon::conformance
