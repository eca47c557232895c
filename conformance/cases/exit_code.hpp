// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tenon::conformance {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailures = 1,     ///< the plugin failed a case
  kExitUsage = 2,        ///< options or input files
  kExitEnvironment = 3,  ///< no plugin, no device, a file that cannot be written
  kExitLost = 4,         ///< the device was lost three times
  kExitDoubt = 5,        ///< three starts, or cases with a known answer, failed in a row
  kExitTool = 6,         ///< a case of this program was not legal; no other failure
  kExitNothing = 7,      ///< nothing was tried
  kExitLittle = 8,       ///< nothing failed, and less than one case an op and dtype was tried
  kExitSignal = 128,     ///< and the signal's number: stopped before its end, without failures
};

}  // namespace tenon::conformance
