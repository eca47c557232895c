// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/cli/survey.hpp"

#include "core/runtime/context.hpp"
#include "core/runtime/environment.hpp"
#include "core/support/error.hpp"

namespace tenon::cli {

std::string status_name(ProbeResult::Status status) {
  switch (status) {
    case ProbeResult::Status::kOk:
      return "ok";
    case ProbeResult::Status::kRejected:
      return "rejected";
    case ProbeResult::Status::kCrashed:
      return "crashed";
    case ProbeResult::Status::kTimeout:
      return "timeout";
  }
  return "rejected";
}

Survey survey_devices() {
  Survey survey;
  DiscoveryOptions options;
  options.env_plugins = environment("TENON_PLUGINS");
  options.env_plugin_path = environment("TENON_PLUGIN_PATH");
  Discovery discovery = discover_plugins(options);
  survey.problems = std::move(discovery.problems);
  for (PluginCandidate& candidate : discovery.candidates) {
    ProbeResult probe;
    if (candidate.shadowed) {
      probe.reason = "an earlier file has the backend '" + candidate.backend + "'";
    } else {
      probe = probe_plugin(candidate.path, /*selftest=*/true);
    }
    survey.plugins.push_back({std::move(candidate), std::move(probe)});
  }
  try {
    survey.default_device = Context().device().id();
  } catch (const Error& error) {
    survey.selector_error = error.what();
    survey.selector_is_wrong = error.kind() == ErrorKind::kInvalid;
  }
  return survey;
}

}  // namespace tenon::cli
