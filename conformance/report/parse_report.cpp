// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads report.json. What can be computed from the rest is not read: it is computed again.
#include <algorithm>

#include "conformance/cases/files.hpp"
#include "conformance/cases/json_reader.hpp"
#include "conformance/report/profile.hpp"
#include "conformance/report/report.hpp"
#include "core/support/error.hpp"
#include "core/support/parse_json.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon::conformance::report {
namespace {

Counts parse_counts(const JsonReader& json) {
  Counts counts{};
  for (const auto& [name, value] : json.object())
    counts[static_cast<size_t>(status_from_name(name))] = value.whole();
  return counts;
}

CellRow parse_cell(const JsonReader& json) {
  CellRow row;
  row.op = json.at("op").text();
  row.dtype = json.at("dtype").text();
  row.counts = parse_counts(json.at("counts"));
  row.worst_ulp = json.at("worst_ulp").number();
  row.worst_input = json.at("worst_input").text();
  for (const auto& [name, count] : json.at("layouts").object()) row.layouts[name] = count.whole();
  for (const auto& [why, count] : json.at("unsupported").object()) row.reasons[why] = count.whole();
  for (const JsonReader& sample : json.at("ulps").list()) {
    const JsonReader bound = sample.at("bound");
    const auto bucket = static_cast<int>(sample.at("bucket").integer(INT32_MIN, INT32_MAX));
    row.ulps[bucket] = {bucket, sample.at("ulp").number(), sample.at("at").number(),
                        bound.is_null() ? -1 : bound.number()};
  }
  return row;
}

Failure parse_failure(const JsonReader& json) {
  Failure f;
  f.name = json.at("case").text();
  f.status = status_from_name(json.at("status").text());
  f.kind = json.at("kind").text();
  f.op = json.at("op").text();
  f.dtype = json.at("dtype").text();
  f.layout = json.at("layout").text();
  f.text = json.at("text").text();
  f.replay = json.at("replay").text();
  f.reproducer = json.at("reproducer").text();
  f.diff = json.at("diff").text();
  f.votes = json.at("votes").text();
  f.transform = json.at("transform").text();
  f.nodes = static_cast<int>(json.at("nodes").integer(0, INT32_MAX));
  f.elements = json.at("elements").integer(0, INT64_MAX);
  f.shrink_seconds = json.at("shrink_seconds").finite(0);
  f.same = json.at("same").whole();
  return f;
}

Environment parse_environment(const JsonReader& json) {
  return {json.at("tool").text(), json.at("processor").text(), json.at("system").text(),
          json.at("date").text(), json.at("command").text()};
}

std::vector<Missing> parse_missing(const JsonReader& json) {
  std::vector<Missing> out;
  for (const auto& [op, with] : json.object()) out.push_back({op, with.texts()});
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

uint32_t parse_freedoms(const JsonReader& json) {
  uint32_t bits = 0;
  for (const std::string& name : json.texts()) {
    const auto found = std::ranges::find(freedoms(), name, &Freedom::name);
    if (found == freedoms().end()) json.expected("names of freedoms");
    bits |= found->bit;
  }
  return bits;
}

Report parse(const JsonReader& json) {
  const JsonReader format = json.at("format"), version = json.at("version");
  if (format.text() != kFormat) format.expected(fmt::format("\"{}\"", kFormat));
  if (version.whole() != 1) version.expected("version 1");
  Report r;
  r.backend = json.at("backend").text();
  r.plugin = json.at("plugin").text();
  r.device = json.at("device").text();
  r.declaration = json.at("declaration").text();
  const JsonReader properties = json.at("properties");
  if (!properties.json().is_object()) properties.expected("an object");
  r.properties = properties.json().dump();
  r.needs = parse_freedoms(json.at("profile").at("needed"));
  r.environment = parse_environment(json.at("environment"));
  r.seed = json.at("seed").bits();
  r.jobs = static_cast<int>(json.at("jobs").integer(1, INT32_MAX));
  r.stopped = json.at("stopped").text();
  r.notes = json.at("notes").texts();
  r.digest = parse_digest(json.at("digest").text());
  r.seconds = json.at("seconds").finite(0);
  if (const JsonReader first = json.at("first_failure_seconds"); !first.is_null())
    r.first_failure_seconds = first.finite(0);
  r.counts = parse_counts(json.at("counts"));
  for (const JsonReader& f : json.at("failures").list()) r.failures.push_back(parse_failure(f));
  const JsonReader coverage = json.at("coverage");
  r.reached = parse_hex(coverage.at("cells").text(), coverage.at("possible").whole());
  r.gaps = {parse_missing(coverage.at("dtypes_never_reached")),
            parse_missing(coverage.at("pairs_never_reached")), coverage.at("pairs").whole(),
            coverage.at("pairs_reached").whole(), coverage.at("vocabulary").text()};
  const JsonReader tried = json.at("tried");
  if (const JsonReader planned = tried.at("planned_cases"); !planned.is_null())
    r.planned = planned.whole();
  r.gaps.cells_reached = tried.at("cells").whole();
  r.gaps.cells = tried.at("possible_cells").whole();
  for (const JsonReader& cell : json.at("cells").list()) {
    CellRow row = parse_cell(cell);
    r.cells[{row.op, row.dtype}] = std::move(row);
  }
  return r;
}

}  // namespace

Report parse_report(std::string_view text) {
  try {
    const auto json = parse_json<JsonReader::Json>(text);
    return parse({json, "report"});
  } catch (const JsonReader::Json::exception& error) {
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
