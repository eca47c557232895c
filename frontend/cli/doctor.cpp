// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon doctor: all that a bug report needs, in one block to paste.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/plugin/environment.hpp"
#include "core/support/output.hpp"
#include "frontend/cli/cli.hpp"
#include "frontend/cli/survey.hpp"
#include "tenon/plugin.h"

namespace tenon::cli {
namespace {

using nlohmann::json;

/// Value of the first "key : value" line of a /proc file, or "".
std::string proc_field(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t colon = line.find(':');
    const size_t begin =
        colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) return line.substr(begin);
  }
  return "";
}

json examine() {
  json result;
  utsname system{};
  uname(&system);
  result["tenon"] = {{"version", TENON_VERSION},
                     {"abi", TN_ABI_VERSION},
                     {"program_format", TN_PROGRAM_VERSION},
                     {"build", TENON_BUILD_TYPE},
                     {"compiler", __VERSION__}};
  result["system"] = {{"kernel", fmt::format("{} {}", system.sysname, system.release)},
                      {"machine", system.machine},
                      {"processor", proc_field("/proc/cpuinfo", "model name")},
                      {"threads", std::thread::hardware_concurrency()},
                      {"memory", proc_field("/proc/meminfo", "MemTotal")},
                      {"available", proc_field("/proc/meminfo", "MemAvailable")}};
  json variables = json::object();
  for (const EnvironmentVariable& variable : environment_variables()) {
    if (const auto value = environment(variable.name))
      variables[std::string(variable.name)] = *value;
  }
  result["environment"] = variables;
  const Survey survey = survey_devices();
  result["problems"] = survey.problems;
  result["plugins"] = json::array();
  for (const SurveyedPlugin& plugin : survey.plugins) {
    json devices = json::array();
    for (const ProbedDevice& device : plugin.probe.devices) {
      devices.push_back({{"id", device.id},
                         {"kind", device.kind},
                         {"name", device.name},
                         {"driver", device.driver},
                         {"target", device.target},
                         {"selftest", device.selftest_ok ? "pass" : "fail: " + device.reason}});
    }
    result["plugins"].push_back({{"path", plugin.candidate.path.string()},
                                 {"found_by", plugin.candidate.source},
                                 {"version", plugin.probe.version},
                                 {"status", status_name(plugin.probe.status)},
                                 {"reason", plugin.probe.reason},
                                 {"devices", devices}});
  }
  result["default"] = survey.default_device;
  result["selector_error"] = survey.selector_error;
  return result;
}

void print_block(const json& value, int indent) {
  for (const auto& [key, item] : value.items()) {
    const std::string name = value.is_array() ? "-" : key + ":";
    if (item.is_structured() && !item.empty()) {
      say("{:{}}{}\n", "", indent, name);
      print_block(item, indent + 2);
    } else if (!item.is_structured()) {
      say("{:{}}{} {}\n", "", indent, name,
          item.is_string() ? item.get<std::string>() : json_text(item, -1));
    }
  }
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("doctor", "Print all that a bug report needs");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([as_json, &exit_code] {
    const json facts = examine();
    if (*as_json) {
      say("{}\n", Lines{json_text(facts)});
    } else {
      print_block(facts, 0);
    }
    if (facts["default"].get<std::string>().empty()) exit_code = kEnvironmentFault;
  });
}

}  // namespace tenon::cli
