// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lines that a worker writes to its parent: the token of the session, a word and fields, apart
// by tabs. The token tells our lines from whatever a plugin writes to a descriptor that is not its.
//
//   ready   DEVICE NAME DECLARATION PLUGIN PROPERTIES DETERMINISTIC COMPUTES   it is loaded
//   refused REASON                        it is not, and the worker ends
//   probe   ok|none|wrong TEXT            the case with a known answer
//   begin   INDEX ATTEMPT OP DTYPE LAYOUT written before the device sees it: the journal
//   compile INDEX                         it compiles once more
//   first   INDEX                         compiled, and about to be launched for the first time
//   run     INDEX                         and again; from here the run's time counts
//   end     INDEX STATUS KIND ...         the outcome: end_fields
//   idle                                  the command is done
//   bye     REASON                        the worker ends by its own will; a fresh one goes on
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/outcome.hpp"
#include "conformance/judge/progress.hpp"

namespace tenon::conformance {

std::string pack(const std::vector<std::string>& fields);  ///< with the newline
std::vector<std::string> unpack(std::string_view line);

std::string_view word_of(RunPhase phase);
/// Nothing for any other word.
std::optional<RunPhase> phase_of(std::string_view word);

/// Of "end", from the word on. `reached`: coverage cells that are new to the process.
std::vector<std::string> end_fields(uint64_t index, const Outcome& outcome,
                                    const std::vector<uint32_t>& reached = {});
/// Outcome and reached cells. Throws kInvalid for fields that no worker writes.
void read_end(const std::vector<std::string>& fields, Finished& finished);

}  // namespace tenon::conformance
