// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon devices: every plugin file, taken or refused and why, and what its devices answered.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/support/output.hpp"
#include "frontend/cli/cli.hpp"
#include "frontend/cli/survey.hpp"

namespace tenon::cli {
namespace {

using nlohmann::json;

json to_json(const Survey& survey) {
  json result{{"plugins", json::array()}, {"devices", json::array()}};
  for (const SurveyedPlugin& plugin : survey.plugins) {
    result["plugins"].push_back({{"path", plugin.candidate.path.string()},
                                 {"backend", plugin.candidate.backend},
                                 {"status", status_name(plugin.probe.status)},
                                 {"reason", plugin.probe.reason},
                                 {"abi", plugin.probe.abi}});
    for (const ProbedDevice& device : plugin.probe.devices) {
      result["devices"].push_back({{"id", device.id},
                                   {"backend", plugin.candidate.backend},
                                   {"kind", device.kind},
                                   {"name", device.name},
                                   {"target", device.target},
                                   {"uuid", device.uuid},
                                   {"selftest", device.selftest_ok ? "pass" : "fail"},
                                   {"reason", device.reason}});
    }
  }
  result["default"] = survey.default_device;
  if (!survey.problems.empty()) result["problems"] = survey.problems;
  return result;
}

void print_survey(const Survey& survey) {
  for (const std::string& problem : survey.problems) say("{}\n", paint(problem, "31"));
  for (const SurveyedPlugin& plugin : survey.plugins) {
    const bool ok = plugin.probe.status == ProbeResult::Status::kOk;
    say("{} {}{}\n",
        paint(fmt::format("{:<8}", status_name(plugin.probe.status)), ok ? "32" : "31"),
        plugin.candidate.path.string(),
        plugin.probe.reason.empty() ? "" : ": " + plugin.probe.reason);
    for (const ProbedDevice& device : plugin.probe.devices) {
      const std::string target =
          device.target.empty() ? "" : fmt::format("  target {}", device.target);
      say("    {}{:<12} {:<11} {}{}{}\n", device.id == survey.default_device ? "* " : "  ",
          device.id, device.kind, device.name, target,
          device.selftest_ok ? Painted{} : paint("  selftest failed: " + device.reason, "31"));
    }
  }
  if (survey.plugins.empty())
    say("no plugin found; see TENON_PLUGIN_PATH in docs/environment.md\n");
  if (!survey.default_device.empty()) say("default: {}\n", survey.default_device);
}

}  // namespace

void add_devices(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("devices", "List plugin files and devices, with reasons");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([as_json, &exit_code] {
    const Survey survey = survey_devices();
    if (*as_json) {
      say("{}\n", Lines{json_text(to_json(survey))});
    } else {
      print_survey(survey);
    }
    if (!survey.selector_error.empty()) {
      complain("tenon", survey.selector_error);
      exit_code = survey.selector_is_wrong ? kUsage : kEnvironmentFault;
    }
  });
}

}  // namespace tenon::cli
