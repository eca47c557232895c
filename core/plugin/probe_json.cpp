// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/plugin/probe.hpp"
#include "core/support/error.hpp"
#include "core/support/parse_json.hpp"
#include "core/support/printable.hpp"

namespace tenon {

using nlohmann::json;

std::string kind_name(uint32_t kind) {
  switch (kind) {
    case TN_DEVICE_CPU:
      return "cpu";
    case TN_DEVICE_GPU:
      return "gpu";
    case TN_DEVICE_ACCELERATOR:
      return "accelerator";
    case TN_DEVICE_STORAGE:
      return "storage";
    default:
      return fmt::format("kind {}", kind);
  }
}

std::string uuid_text(const uint8_t (&uuid)[16]) {
  if (std::all_of(std::begin(uuid), std::end(uuid), [](uint8_t byte) { return byte == 0; }))
    return "";
  std::string text;
  for (size_t i = 0; i < 16; ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  return text;
}

std::string probe_to_json(const ProbeResult& result) {
  json devices = json::array();
  for (const ProbedDevice& d : result.devices)
    devices.push_back({{"id", d.id},
                       {"kind", d.kind},
                       {"name", d.name},
                       {"uuid", d.uuid},
                       {"driver", d.driver},
                       {"target", d.target},
                       {"selftest", d.selftest_ok},
                       {"reason", d.reason}});
  const json line = {{"status", static_cast<int>(result.status)},
                     {"reason", result.reason},
                     {"abi", result.abi},
                     {"priority", result.priority},
                     {"version", result.version},
                     {"devices", devices}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

ProbeResult probe_from_json(std::string_view line) {
  try {
    const auto j = parse_json<json>(line);
    ProbeResult result;
    const int status = j.at("status").get<int>();
    if (status < 0 || status > static_cast<int>(ProbeResult::Status::kUnknown))
      fail(ErrorKind::kInternal, "status {}", status);
    result.status = static_cast<ProbeResult::Status>(status);
    result.reason = j.at("reason").get<std::string>();
    result.abi = j.at("abi").get<uint32_t>();
    result.priority = j.at("priority").get<int>();
    result.version = j.at("version").get<std::string>();
    for (const json& d : j.at("devices"))
      result.devices.push_back({d.at("id").get<std::string>(), d.at("kind").get<std::string>(),
                                d.at("name").get<std::string>(), d.at("uuid").get<std::string>(),
                                d.at("driver").get<std::string>(),
                                d.at("target").get<std::string>(), d.at("selftest").get<bool>(),
                                d.at("reason").get<std::string>()});
    return result;
  } catch (const std::exception& error) {
    fail(ErrorKind::kInternal, "[probe] expected a result as one line of JSON, got '{}': {}",
         shortened_text(line, 80), error.what());
  }
}

}  // namespace tenon
