// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report.json, written and read. The only file here that sees the JSON library.
#include <cmath>
#include <nlohmann/json.hpp>

#include "conformance/report/report.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const Counts& counts) {
  Json out = Json::object();
  for (int i = 0; i < kStatusCount; ++i)
    out[std::string(status_name(static_cast<Status>(i)))] = counts[static_cast<size_t>(i)];
  return out;
}

Counts parse_counts(const Json& json) {
  Counts counts{};
  for (const auto& [name, value] : json.items())
    counts[static_cast<size_t>(status_from_name(name))] = value.get<uint64_t>();
  return counts;
}

/// JSON has no infinity: a distance to a value of the other kind is a string.
Json ulp_json(double ulp) { return std::isfinite(ulp) ? Json(ulp) : Json("inf"); }
double parse_ulp(const Json& json) { return json.is_string() ? INFINITY : json.get<double>(); }

}  // namespace

std::string to_json(const Report& r) {
  Json out;
  out["plugin"] = r.plugin;
  out["backend"] = r.backend;
  out["device"] = r.device;
  out["seed"] = r.seed;
  out["counts"] = counts_json(r.counts);
  out["cases_per_second_per_core"] = std::round(r.cases_per_second_per_core() * 10) / 10;
  out["cells"] = Json::array();
  for (const auto& [key, row] : r.cells)
    out["cells"].push_back({{"op", row.op},
                            {"dtype", row.dtype},
                            {"cases", row.cases()},
                            {"counts", counts_json(row.counts)},
                            {"worst_ulp", ulp_json(row.worst_ulp)},
                            {"worst_input", row.worst_input}});
  out["failures"] = Json::array();
  for (const Failure& f : r.failures)
    out["failures"].push_back({{"case", f.name},
                               {"status", status_name(f.status)},
                               {"text", f.text},
                               {"replay", f.replay},
                               {"kind", f.kind},
                               {"op", f.op},
                               {"dtype", f.dtype},
                               {"layout", f.layout},
                               {"reproducer", f.reproducer}});
  out["declaration"] = r.declaration;
  out["seconds"] = std::round(r.seconds * 1000) / 1000;
  out["jobs"] = r.jobs;
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Report parse_report(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    Report r;
    r.plugin = json.at("plugin").get<std::string>();
    r.backend = json.at("backend").get<std::string>();
    r.device = json.at("device").get<std::string>();
    r.seed = json.at("seed").get<uint64_t>();
    r.counts = parse_counts(json.at("counts"));
    r.declaration = json.value("declaration", "");
    r.seconds = json.value("seconds", 0.0);
    r.jobs = json.value("jobs", 1);
    TN_REQUIRE(r.jobs >= 1 && r.seconds >= 0, "[report] expected jobs >= 1 and seconds >= 0");
    for (const Json& cell : json.at("cells")) {
      CellRow row{cell.at("op"), cell.at("dtype"), parse_counts(cell.at("counts")),
                  parse_ulp(cell.at("worst_ulp")), cell.at("worst_input")};
      r.cells[{row.op, row.dtype}] = row;
    }
    for (const Json& f : json.at("failures"))
      r.failures.push_back({f.at("case"), status_from_name(f.at("status").get<std::string>()),
                            f.value("kind", ""), f.value("op", ""), f.value("dtype", ""),
                            f.value("layout", ""), f.at("text"), f.at("replay"),
                            f.value("reproducer", "")});
    return r;
  } catch (const Json::exception& error) {
    fail(ErrorKind::kInvalid, "[report] expected a report.json, got: {}", error.what());
  }
}

}  // namespace tenon::conformance
