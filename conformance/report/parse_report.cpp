// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads report.json. What can be computed from the rest is not read: it is computed again.
#include <nlohmann/json.hpp>

#include "conformance/cases/files.hpp"
#include "conformance/cases/json_number.hpp"
#include "conformance/report/profile.hpp"
#include "conformance/report/report.hpp"
#include "core/support/error.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon::conformance::report {
namespace {

using Json = nlohmann::ordered_json;

Counts parse_counts(const Json& json) {
  Counts counts{};
  for (const auto& [name, value] : json.items())
    counts[static_cast<size_t>(status_from_name(name))] = value.get<uint64_t>();
  return counts;
}

CellRow parse_cell(const Json& json) {
  CellRow row;
  row.op = json.at("op");
  row.dtype = json.at("dtype");
  row.counts = parse_counts(json.at("counts"));
  row.worst_ulp = number_of(json.at("worst_ulp"));
  row.worst_input = json.at("worst_input");
  row.layouts = json.at("layouts").get<std::map<std::string, uint64_t>>();
  for (const Json& sample : json.at("ulps")) {
    const Json& bound = sample.at("bound");
    row.ulps[sample.at("bucket")] = {sample.at("bucket"), number_of(sample.at("ulp")),
                                     number_of(sample.at("at")),
                                     bound.is_null() ? -1 : number_of(bound)};
  }
  return row;
}

Failure parse_failure(const Json& json) {
  Failure f;
  f.name = json.at("case");
  f.status = status_from_name(json.at("status").get<std::string>());
  f.kind = json.at("kind");
  f.op = json.at("op");
  f.dtype = json.at("dtype");
  f.layout = json.at("layout");
  f.text = json.at("text");
  f.replay = json.at("replay");
  f.reproducer = json.at("reproducer");
  f.diff = json.at("diff");
  f.votes = json.at("votes");
  f.transform = json.at("transform");
  f.nodes = json.at("nodes");
  f.elements = json.at("elements");
  f.shrink_seconds = json.at("shrink_seconds");
  f.same = json.at("same");
  return f;
}

Environment parse_environment(const Json& json) {
  return {json.at("tool"), json.at("processor"), json.at("system"), json.at("date"),
          json.at("command")};
}

std::vector<Missing> parse_missing(const Json& json) {
  std::vector<Missing> out;
  for (const auto& [op, with] : json.items())
    out.push_back({op, with.get<std::vector<std::string>>()});
  return out;
}

std::vector<bool> parse_hex(const std::string& text, uint64_t size) {
  const uint64_t digits = size / 4 + (size % 4 != 0);
  TN_REQUIRE(text.size() == digits, "[report] expected {} digits of coverage, got {}", digits,
             text.size());
  std::vector<bool> bits(size);
  for (size_t i = 0; i < size; ++i) {
    const size_t digit = std::string_view("0123456789abcdef").find(text[i / 4]);
    TN_REQUIRE(digit != std::string_view::npos, "[report] expected hexadecimal coverage, got '{}'",
               text[i / 4]);
    bits[i] = digit >> (i % 4) & 1;
  }
  return bits;
}

uint64_t parse_digest(const std::string& text) {
  const auto digest = sdk::number_of<uint64_t>(text, 16);
  TN_REQUIRE(digest && text.size() == 16,
             "[report] expected a digest of 16 hexadecimal digits, got \"{}\"", text);
  return *digest;
}

uint32_t parse_freedoms(const Json& json) {
  uint32_t bits = 0;
  for (const Json& name : json)
    for (const Freedom& freedom : freedoms())
      if (name == freedom.name) bits |= freedom.bit;
  return bits;
}

Report parse(const Json& json) {
  TN_REQUIRE(json.at("version") == 1, "[report] expected version 1 of report.json, got {}",
             json.at("version").dump());
  Report r;
  r.backend = json.at("backend");
  r.plugin = json.at("plugin");
  r.device = json.at("device");
  r.declaration = json.at("declaration");
  TN_REQUIRE(json.at("properties").is_object(), "[report] expected an object of properties");
  r.properties = json.at("properties").dump();
  r.needs = parse_freedoms(json.at("profile").at("needed"));
  r.environment = parse_environment(json.at("environment"));
  r.seed = json.at("seed").get<uint64_t>();
  r.jobs = json.at("jobs");
  r.stopped = json.at("stopped");
  r.notes = json.at("notes").get<std::vector<std::string>>();
  r.digest = parse_digest(json.at("digest"));
  r.seconds = json.at("seconds");
  TN_REQUIRE(r.jobs >= 1 && r.seconds >= 0, "[report] expected jobs >= 1 and seconds >= 0");
  if (const Json& first = json.at("first_failure_seconds"); !first.is_null())
    r.first_failure_seconds = first;
  r.counts = parse_counts(json.at("counts"));
  for (const Json& f : json.at("failures")) r.failures.push_back(parse_failure(f));
  const Json& coverage = json.at("coverage");
  r.reached = parse_hex(coverage.at("cells"), coverage.at("possible").get<uint64_t>());
  r.gaps = {parse_missing(coverage.at("dtypes_never_reached")),
            parse_missing(coverage.at("pairs_never_reached")), coverage.at("pairs"),
            coverage.at("pairs_reached"), coverage.at("vocabulary")};
  for (const Json& cell : json.at("cells")) {
    CellRow row = parse_cell(cell);
    r.cells[{row.op, row.dtype}] = std::move(row);
  }
  return r;
}

}  // namespace

Report parse_report(std::string_view text) {
  try {
    return parse(Json::parse(text));
  } catch (const Json::exception& error) {
    fail(ErrorKind::kInvalid, "[report] expected a report.json, got: {}", error.what());
  }
}

Report read_report(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  try {
    return parse_report(text);
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", file.string(), error.what());
  }
}

}  // namespace tenon::conformance::report
