// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What there is on this machine: each plugin file probed in a child process, and the default
// device.
#pragma once

#include <string>
#include <vector>

#include "core/plugin/discovery.hpp"
#include "core/plugin/probe.hpp"

namespace tenon::cli {

struct SurveyedPlugin {
  PluginCandidate candidate;
  ProbeResult probe;
};

struct Survey {
  std::vector<SurveyedPlugin> plugins;
  std::vector<std::string> problems;
  std::string default_device;      ///< "" if no device can be chosen
  std::string selector_error;      ///< why not
  bool selector_is_wrong = false;  ///< the error is the user's
};

Survey survey_devices();
/// Throws kEnvironment with the reason if the probe of that backend's plugin found it unfit. A
/// backend that is not there is left to whoever looks for it next.
void expect_probed(const Discovery& found, const std::string& backend);
std::string status_name(ProbeResult::Status status);

}  // namespace tenon::cli
