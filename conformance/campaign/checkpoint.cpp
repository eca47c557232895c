// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/checkpoint.hpp"

#include <nlohmann/json.hpp>

#include "conformance/cases/files.hpp"
#include "conformance/cases/json_reader.hpp"
#include "conformance/worker/wire.hpp"
#include "core/support/error.hpp"
#include "core/support/parse_json.hpp"

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

std::vector<Finished> parse_finished(const JsonReader& json) {
  std::vector<Finished> out;
  for (const JsonReader& one : json.list()) {
    Finished f;
    f.index = one.at("index").bits();
    f.attempt = one.at("attempt").bits();
    f.cell = one.at("cell").as<Cell>();
    f.outcome = one.at("outcome").as<Outcome>();
    f.process_begin = one.at("process_begin").bits();
    for (const JsonReader& before : one.at("before").list()) f.before.push_back(before.bits());
    out.push_back(std::move(f));
  }
  return out;
}

/// Places of lines.
std::set<int> parse_lines(const JsonReader& json) {
  std::set<int> out;
  for (const JsonReader& one : json.list()) out.insert(static_cast<int>(one.integer(0, INT32_MAX)));
  return out;
}

void check_options(const JsonReader& saved,
                   const std::vector<std::pair<std::string, std::string>>& options) {
  std::string differs;
  for (const auto& [name, value] : options) {
    const std::string before = saved.at(name).text();
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
    const auto document = parse_json<JsonReader::Json>(read_file(file));
    const JsonReader json(document, "resume");
    check_options(json.at("options"), options);
    Checkpoint c;
    c.options = options;
    c.next = json.at("next").bits();
    for (const JsonReader& range : json.at("todo").list()) {
      const std::vector<JsonReader> ends = range.list(2);
      c.todo.push_back({ends[0].bits(), ends[1].bits()});
      if (c.todo.back().begin > c.todo.back().end) range.expected("a begin up to the end");
    }
    c.failures = parse_finished(json.at("failures"));
    for (const auto& [name, count] : json.at("dropped").object()) c.dropped[name] = count.whole();
    c.rechecks = parse_finished(json.at("rechecks"));
    c.seen = {parse_lines(json.at("passed")), parse_lines(json.at("failed"))};
    c.report = report::parse_report(json.at("report").text());
    return c;
  } catch (const Json::exception& error) {
    fail(ErrorKind::kInvalid, "[resume] expected the state of a run in {}, got: {}", file.string(),
         error.what());
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", file.string(), error.what());
  }
}

}  // namespace tenon::conformance::campaign
