// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/cli/survey.hpp"

#include "core/plugin/environment.hpp"
#include "core/plugin/probes.hpp"
#include "core/runtime/runtime.hpp"
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
    case ProbeResult::Status::kUnknown:
      return "unknown";
  }
  return "rejected";
}

namespace {

/// Throws kInvalid for a variable that says nothing.
std::shared_ptr<Probes> probes_of_environment(Probes::Options how) {
  if (const auto text = environment("TENON_PROBE_SECONDS"))
    how.seconds = parse_seconds("TENON_PROBE_SECONDS", *text);
  const auto folder = environment("TENON_CACHE_DIR");
  return std::make_shared<Probes>(
      std::make_shared<DiskCache>(folder ? parse_folder("TENON_CACHE_DIR", *folder)
                                         : default_cache_dir()),
      how);
}

}  // namespace

void expect_probed(const Discovery& found, const std::string& backend) {
  const PluginCandidate* candidate = find_backend(found, backend);
  if (!candidate) return;
  const ProbeResult probe = probes_of_environment({})->of(*candidate);
  if (probe.status != ProbeResult::Status::kOk)
    fail(ErrorKind::kEnvironment, "[target] {} is not loaded: {}", candidate->path.string(),
         probe.reason);
}

Survey survey_devices() {
  Survey survey;
  Discovery discovery = installed_plugins();
  survey.problems = std::move(discovery.problems);
  RuntimeOptions options;
  Probes::Options how;
  how.afresh = true;  // what was remembered may be wrong by now
  how.warns = false;  // the caller shows it
  try {
    options.probes = probes_of_environment(how);
  } catch (const Error& error) {
    survey.selector_error = error.what();
    survey.selector_is_wrong = true;
    return survey;
  }
  std::vector<const PluginCandidate*> candidates;
  for (const PluginCandidate& candidate : discovery.candidates)
    if (!candidate.shadowed) candidates.push_back(&candidate);
  options.probes->ask(candidates);
  for (PluginCandidate& candidate : discovery.candidates) {
    ProbeResult probe;
    if (candidate.shadowed) {
      probe.reason = "an earlier file has the backend '" + candidate.backend + "'";
    } else {
      probe = options.probes->of(candidate);
    }
    survey.plugins.push_back({std::move(candidate), std::move(probe)});
  }
  try {
    survey.default_device = Runtime(options).device().id();
  } catch (const Error& error) {
    survey.selector_error = error.what();
    survey.selector_is_wrong = error.kind() == ErrorKind::kInvalid;
  }
  return survey;
}

}  // namespace tenon::cli
