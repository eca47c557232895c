// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/checkpoint.hpp"

#include <nlohmann/json.hpp>

#include "conformance/cases/files.hpp"
#include "conformance/worker/wire.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::campaign {
namespace {

using Json = nlohmann::json;

Json finished_json(const std::vector<Finished>& list) {
  Json out = Json::array();
  for (const Finished& f : list)
    out.push_back({{"index", f.index},
                   {"attempt", f.attempt},
                   {"cell", f.cell},
                   {"outcome", f.outcome},
                   {"process_begin", f.process_begin},
                   {"before", f.before}});
  return out;
}

std::vector<Finished> parse_finished(const Json& json) {
  std::vector<Finished> out;
  for (const Json& one : json)
    out.push_back({.index = one.at("index"),
                   .attempt = one.at("attempt"),
                   .cell = one.at("cell"),
                   .outcome = one.at("outcome"),
                   .process_begin = one.at("process_begin"),
                   .before = one.at("before").get<std::vector<uint64_t>>()});
  return out;
}

void check_options(const Json& saved,
                   const std::vector<std::pair<std::string, std::string>>& options) {
  std::string differs;
  for (const auto& [name, value] : options) {
    const std::string before = saved.value(name, "");
    if (before != value)
      differs += fmt::format("{}{}: \"{}\" then, \"{}\" now", differs.empty() ? "" : "; ", name,
                             before, value);
  }
  TN_REQUIRE(differs.empty(), "[resume] expected what the run began with, got other options: {}",
             differs);
}

}  // namespace

void write_checkpoint(const Checkpoint& c, const std::filesystem::path& file) {
  Json out;
  for (const auto& [name, value] : c.options) out["options"][name] = value;
  out["next"] = c.next;
  out["todo"] = Json::array();
  for (const worker::Range& range : c.todo) out["todo"].push_back({range.begin, range.end});
  out["failures"] = finished_json(c.failures);
  out["dropped"] = c.dropped;
  out["rechecks"] = finished_json(c.rechecks);
  out["passed"] = c.seen.passed;
  out["failed"] = c.seen.failed;
  out["report"] = to_json(c.report);
  write_file(file, out.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Checkpoint read_checkpoint(const std::filesystem::path& file,
                           const std::vector<std::pair<std::string, std::string>>& options) {
  TN_REQUIRE(std::filesystem::exists(file),
             "[resume] expected the folder of a run that was stopped, got no file {}",
             file.string());
  try {
    const Json json = Json::parse(read_file(file));
    check_options(json.at("options"), options);
    Checkpoint c;
    c.options = options;
    c.next = json.at("next");
    for (const Json& range : json.at("todo")) c.todo.push_back({range.at(0), range.at(1)});
    c.failures = parse_finished(json.at("failures"));
    c.dropped = json.at("dropped").get<std::map<std::string, uint64_t>>();
    c.rechecks = parse_finished(json.at("rechecks"));
    c.seen = {json.at("passed").get<std::set<int>>(), json.at("failed").get<std::set<int>>()};
    c.report = report::parse_report(json.at("report").get<std::string>());
    return c;
  } catch (const Json::exception& error) {
    fail(ErrorKind::kInvalid, "[resume] expected the state of a run in {}, got: {}", file.string(),
         error.what());
  }
}

}  // namespace tenon::conformance::campaign
