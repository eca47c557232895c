// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The forms of a report: what they say, and that nothing of a stranger's text becomes markup.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "conformance/report/markup.hpp"
#include "conformance/report/profile.hpp"
#include "conformance/report/verdict.hpp"
#include "core/ir/dtype.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/sample_report.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::report;

namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

bool has_control(const std::string& text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') return true;
  return text.find('\x7f') != text.npos;
}

const std::string kHostile =
    "</script></style><script>alert(1)</script><img src=x onerror='alert(2)'>\"&amp;\x01\x1b[31m"
    "\xff\xc0\xaf\xed\xa0\x80 \xe2\x80\xae| `` ``` \x7f";

/// The text wherever a plugin can put it.
Report hostile_report() {
  Report r = sample_report();
  r.device = r.declaration = r.plugin = r.backend = kHostile;
  r.properties = "{\"name\":\"</script><script>alert(3)</script>\",\"<b>\":[{\"<i>\":\"<u>\"}]}";
  r.stopped = kHostile;
  r.notes = {kHostile};
  r.environment = {kHostile, kHostile, kHostile, kHostile, kHostile};
  Failure& f = r.failures[0];
  f.text = f.replay = f.reproducer = f.votes = f.transform = f.kind = f.layout = f.name = kHostile;
  f.diff = kHostile + "\t" + kHostile + "\t" + kHostile + "\n" + kHostile;
  Finished finished_case = finished("add", "f32", Status::kPass, 5);
  finished_case.outcome.worst_input = finished_case.cell.layout = kHostile;
  r.add(finished_case);
  finished_case.cell.op = finished_case.cell.dtype = kHostile;
  r.add(finished_case);
  r.gaps.dtypes = r.gaps.consumers = {{kHostile, {kHostile}}};
  return r;
}

/// What the script of the page reads.
nlohmann::json data_of(const std::string& html, const std::string& id) {
  const std::string begin = "<script type=\"application/json\" id=" + id + ">";
  REQUIRE(count(html, begin) == 1);
  const size_t at = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
}

}  // namespace

TEST_CASE("the page holds the report, and says what became of it without a script") {
  const Report report = sample_report();
  const std::string html = to_html(report);
  // No resource from outside: the one address is the name of SVG.
  CHECK(count(html, "://") == 1);
  CHECK(count(html, "'http://www.w3.org/2000/svg'") == 1);
  CHECK(data_of(html, "report") == nlohmann::json::parse(to_json(report)));
  CHECK(html.find("<h1>x fails: 1 of 6 cases, in 1 of 5 cells.</h1>") != html.npos);
  CHECK(html.find("<noscript><p>3 PASS, 1 FAIL, 1 UNSUPPORTED, 1 VACUOUS.") != html.npos);
  const nlohmann::json tables = data_of(html, "tables");
  CHECK(tables["dtypes"].size() == all_dtypes().size());
  CHECK(tables["failing"] ==
        nlohmann::json{"FAIL", "CRASH", "TIMEOUT", "DEVICE_LOST", "FLAKY", "XPASS"});
  CHECK(tables["freedoms"].size() == freedoms().size());
}

TEST_CASE("JUnit says what the report says") {
  const Report report = sample_report();
  const std::string junit = to_junit(report);
  CHECK(junit.find("tests=\"5\" failures=\"1\" errors=\"0\" skipped=\"2\"") != junit.npos);
  CHECK(count(junit, "<skipped") == 2);  // unsupported, and vacuous only
}

TEST_CASE("nothing that a plugin says becomes markup") {
  const Report raw = hostile_report();
  for (const Report& report : {raw, parse_report(to_json(raw))}) {
    const std::string html = to_html(report), junit = to_junit(report);
    for (const std::string& text : {html, junit}) {
      CHECK_FALSE(has_control(text));
      CHECK(printable(text) == text);  // valid UTF-8, and no text that turns around
    }
    CHECK(count(html, "<script>") == 1);
    CHECK(count(html, "</script>") == 3);
    CHECK(count(html, "<script type=\"application/json\" id=") == 2);
    CHECK(data_of(html, "report")["failures"][0]["text"] ==
          nlohmann::json::parse(to_json(report))["failures"][0]["text"]);
    CHECK(count(html, "</style>") == 1);
    CHECK(count(html, "<img") == 0);
    CHECK(count(junit, "<script") == 0);
    CHECK(count(junit, "<img") == 0);
  }
}

TEST_CASE("text is made printable") {
  CHECK(printable("a\tb\nc é € 😀") == "a\tb\nc é € 😀");
  CHECK(printable(std::string_view("\0\x1f", 2)) == "\u2400\u241f");
  CHECK(printable("\x7f") == "\u2421");
  CHECK(printable("\xc3") == "\ufffd");
  CHECK(printable("\xc3(") == "\ufffd(");
  CHECK(printable("\xf0\x9f\x98") == "\ufffd\ufffd\ufffd");
  CHECK(printable("\xed\xa0\x80") == "\ufffd\ufffd\ufffd");  // half of a pair
  CHECK(printable("\xef\xbf\xbf") == "\ufffd");              // U+FFFF
  CHECK(printable("\u202e") == "\ufffd");
  CHECK(escape_markup("<a href=\"b\">'&'</a>") ==
        "&lt;a href=&quot;b&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

TEST_CASE("the tightest profile that was met is proposed") {
  Report report;
  report.declaration = "relaxed, flushes subnormal inputs, no NaN, not deterministic";
  CHECK(judge_profile(report).looser.empty());  // nothing passed: nothing is known
  report.add(finished("add", "f32", Status::kPass));
  report.needs = kNeedsNoNan;
  const ProfileVerdict verdict = judge_profile(report);
  CHECK(verdict.declared == (kNeedsRelaxed | kNeedsFlush | kNeedsNoNan));
  CHECK(verdict.looser ==
        std::vector<std::string>{"declares relaxed, met strict",
                                 "declares \"flushes subnormals\", never needed it"});
  CHECK(verdict.proposal == "strict, keeps subnormals, no NaN");
  report.declaration = "strict, deterministic";
  report.needs = 0;
  CHECK(judge_profile(report).looser.empty());
  CHECK(judge_profile(report).proposal == "strict");
}

TEST_CASE("a verdict is a sentence") {
  Report report;
  report.backend = "x";
  CHECK(verdict(report) == "x: no case was run.");
  for (int i = 0; i < 1200; ++i) report.add(finished("add", "f32", Status::kPass));
  CHECK(verdict(report) == "x passes: 1,200 cases; none failed.");
  CHECK(remarks(report).empty());
  report.planned = 29600;
  report.gaps.cells = 786;
  report.gaps.cells_reached = 1;
  CHECK(tried_text(report) == "1,200 of 29,600 cases; 1 of 786 cells of op and dtype");
  CHECK(verdict(report) == "x is not tried whole: " + tried_text(report) + "; none failed.");
  CHECK(remarks(report) ==
        std::vector<std::string>{"Less than one case an op and dtype was tried."});
  report.gaps.cells_reached = 786;
  CHECK(verdict(report) ==
        "x passes: 1,200 of 29,600 cases; 786 of 786 cells of op and dtype; none failed.");
  report.add(finished("add", "f16", Status::kCrash));
  report.add(finished("add", "f16", Status::kTimeout));
  report.add(finished("add", "f16", Status::kTimeout));
  report.add(finished("sin", "f16", Status::kVacuous));
  CHECK(verdict(report) == "x fails: 3 of 1,204 cases, in 1 of 3 cells.");
  CHECK(remarks(report) ==
        std::vector<std::string>{
            "The run went on after 1 crash, 2 timeouts; each cost its own case only.",
            "1 cell said nothing: every case was vacuous."});
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(123) == "123");
}
