// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process that loads a plugin and nothing else: it knows what it was like before the plugin was
// loaded, sees every device in the order of the very first enumeration, and ends as a program does,
// through main. The named check process_untouched starts one.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "conformance/cases/target.hpp"

namespace tenon::conformance::abi {

/// What the process does beside the calls that each one makes.
struct IsolatedOptions {
  std::string host = "whole";  ///< of host_of
  std::string saved{};         ///< file of executable_save of any_kernel; "" for none
  bool has_ways = false;       ///< it rounds, blocks signals, .. as few do
  bool leaves_open = false;    ///< the device, when it returns from main
  /// Then it also matters how it ends.
  bool is_plain() const { return host == "whole" && saved.empty() && !has_ways; }
};

/// Serves as the process: loads, opens, compiles, launches and closes, and writes to descriptor
/// `result` what the plugin did to the process, then "done".
void run_isolated_process(const Target& target, int result, const IsolatedOptions& options);

/// The program whose subcommand "isolated" calls run_isolated_process; this one, unless a test says
/// otherwise.
inline std::filesystem::path isolated_program = "/proc/self/exe";

/// Starts one and waits for it; `alive` is called meanwhile. Throws a Finding for what the plugin
/// did to it, and NotThere where it could not be looked at. Whether it was seen to end.
bool run_isolated(const Target& target, const std::function<void()>& alive,
                  const IsolatedOptions& options = {});

}  // namespace tenon::conformance::abi
