# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forms of a real report with failures: against the schema, as JUnit and CSV, and as a page in a browser."""
import json
import os
import tempfile
import unittest
import xml.etree.ElementTree

import jsonschema  # Debian: python3-jsonschema

from chromium import Browser
from harness import BUILD, SOURCE, run

PLUGINS = os.path.join(BUILD, "test-plugins", "conformance")
CASES = 6000
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">\x1b\x00\u202eend"


def plugin(bug):
    return os.path.join(PLUGINS, f"libtenon_planted_{bug}.so")


def read(folder, name="report.json"):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file) if name.endswith(".json") else file.read()


def setUpModule():
    """One run for all classes."""
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    Reports.temporary = temporary
    Reports.folder = os.path.join(temporary.name, "wrong")
    Reports.result = run("tenon-conformance", "run", "--plugin", plugin("wrong"), "--cases", CASES, "--jobs", 2,
                         "--report", Reports.folder)
    Reports.report = read(Reports.folder)


class Reports:
    """What setUpModule ran."""

    def cells(self):
        return [cell for cell in self.report["cells"] if cell["dtype"] != "-"]


class Forms(Reports, unittest.TestCase):
    def test_the_run_failed_and_the_report_says_so(self):
        self.assertEqual(self.result.returncode, 1, self.result.stderr)
        self.assertGreater(self.report["counts"]["FAIL"], 0)
        self.assertGreaterEqual(self.report["cases"], CASES)  # and regression files
        self.assertEqual(self.report["cases"], sum(self.report["counts"].values()))
        self.assertEqual(self.report["cases"], sum(cell["cases"] for cell in self.report["cells"]))
        self.assertEqual(self.report["environment"]["command"].split()[:2], ["tenon-conformance", "run"])
        failure = next(f for f in self.report["failures"] if not f["op"].startswith("api."))
        for field in ("text", "replay", "reproducer", "diff"):
            self.assertTrue(failure[field], field)

    def test_the_schema_holds(self):
        schema = read(os.path.join(BUILD, "share", "tenon"), "report.schema.json")
        self.assertEqual(schema, read(os.path.join(SOURCE, "conformance", "report"), "report.schema.json"))
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        validator.validate(self.report)
        for field in self.report:
            damaged = {key: value for key, value in self.report.items() if key != field}
            self.assertFalse(validator.is_valid(damaged), field)
        self.assertFalse(validator.is_valid({**self.report, "surplus": 1}))
        self.assertFalse(validator.is_valid({**self.report, "cases": -1}))
        self.assertFalse(validator.is_valid({**self.report, "cells": [{**self.report["cells"][0], "state": "GOOD"}]}))

    def test_every_form_is_made_from_the_json_alone(self):
        again = os.path.join(self.temporary.name, "again")
        result = run("tenon-conformance", "report", os.path.join(self.folder, "report.json"), "--report", again)
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("report.json", "report.html", "junit.xml"):
            self.assertEqual(read(self.folder, name), read(again, name), name)

    def test_junit(self):
        suites = xml.etree.ElementTree.fromstring(read(self.folder, "junit.xml"))
        suite = suites.find("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual(int(suite.get("tests")), len(cases))
        self.assertEqual(len(cases), len({(case.get("classname"), case.get("name")) for case in cases}))
        self.assertEqual({case.get("name") for case in cases if case.find("failure") is not None},
                         {f"{cell['op']} {cell['dtype']}" for cell in self.report["cells"] if cell["counts"]["FAIL"]})
        failed = next(case.find("failure") for case in cases if case.find("failure") is not None)
        self.assertIn("tenon-conformance replay", failed.text)
        self.assertEqual(int(suite.get("failures")), len(suite.findall("testcase/failure")))
        self.assertEqual(int(suite.get("skipped")), len(suite.findall("testcase/skipped")))

    def test_a_report_is_summed_up(self):
        result = run("tenon-conformance", "report", os.path.join(self.folder, "report.json"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("tenon-conformance replay", result.stdout)
        for status, cases in self.report["counts"].items():
            if cases:
                self.assertRegex(result.stdout, rf"(?m)^  {status} +{cases}$")

    def test_compare(self):
        good = os.path.join(self.temporary.name, "none")
        self.assertEqual(run("tenon-conformance", "run", "--plugin", plugin("none"), "--cases", CASES, "--jobs", 2,
                             "--report", good).returncode, 0)
        before, after = (os.path.join(folder, "report.json") for folder in (good, self.folder))
        worse = run("tenon-conformance", "compare", before, after, "--factor", 1000)
        self.assertEqual(worse.returncode, 1, worse.stderr)
        self.assertIn("worse   failure", worse.stdout)
        self.assertIn("tenon-conformance replay", worse.stdout)
        facts = json.loads(run("tenon-conformance", "compare", before, after, "--json", "--factor", 1000).stdout)
        self.assertTrue(facts["worse"])
        failing = {f"{cell['op']} {cell['dtype']}" for cell in self.report["cells"] if cell["counts"]["FAIL"]}
        self.assertEqual({change["where"] for change in facts["changes"] if change["turn"] == "worse"}, failing)
        better = run("tenon-conformance", "compare", after, before, "--factor", 1000)
        self.assertEqual(better.returncode, 0, better.stdout)
        self.assertIn("better  failure", better.stdout)
        self.assertEqual(run("tenon-conformance", "compare", before, before).stdout.splitlines()[-1],
                         "Nothing changed.")

    def test_compare_names_the_bad_file(self):
        good = os.path.join(self.folder, "report.json")
        for bad, words in ((os.path.join(SOURCE, "LICENSE"), "expected a report.json"),
                           (os.path.join(self.folder, "missing.json"), "expected a readable file")):
            for pair in ((good, bad), (bad, good)):
                result = run("tenon-conformance", "compare", *pair)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(bad, result.stderr)
                self.assertIn(words, result.stderr)


class Page(Reports, unittest.TestCase):
    def setUp(self):
        self.browser = Browser()
        self.addCleanup(self.browser.close)
        self.path = os.path.join(self.folder, "report.html")

    def load(self, path=None):
        self.browser.look(1200, 900)
        self.browser.open(path or self.path)

    def assert_quiet(self, path):
        """No error in the console, and nothing was asked for but the page."""
        self.assertEqual(self.browser.errors, [])
        self.assertEqual(self.browser.requests, ["file://" + path])

    def shown(self, selector):
        return self.browser.value(f"[...document.querySelectorAll({selector!r})].filter("
                                  "one => one.checkVisibility()).length")

    def test_the_table_is_there_with_its_cells(self):
        self.load()
        value = self.browser.value
        self.assertIn("planted_wrong fails: ", value("document.querySelector('h1').textContent"))
        found = {(op, dtype): (status, symbol) for op, dtype, status, symbol in value(
            "[...document.querySelectorAll('.matrix td > a')].map(a => "
            "[a.dataset.op, a.dataset.dtype, a.dataset.status, a.textContent])")}
        self.assertEqual({key: status for key, (status, symbol) in found.items()},
                         {(cell["op"], cell["dtype"]): cell["state"] for cell in self.cells()})
        symbols = {status: symbol for status, symbol in found.values()}
        self.assertEqual(len(set(symbols.values())), len(symbols))  # told apart without colour
        self.assertGreaterEqual(set(symbols), {"PASS", "FAIL"})
        self.assertEqual(self.shown(".failure"), len(self.report["failures"]))
        self.assertIn(self.report["failures"][0]["replay"], value("document.querySelector('.failure').textContent"))
        self.assertIn(self.report["failures"][0]["reproducer"].strip(),
                      value("document.querySelector('.failure .ir').textContent"))
        self.assertGreater(self.shown("#profile, #coverage, #declarations, #environment, #table"), 4)
        self.assert_quiet(self.path)

    def test_the_filter(self):
        self.load()
        def choose(name, text):
            return self.browser.value(f"(field => {{ field.value = {text!r}; field.dispatchEvent(new Event("
                                      f"'{'input' if name == 'op' else 'change'}')); }})"
                                      f"(document.getElementById('filter-{name}'))")
        lit = ".matrix td > a:not(.dim)"
        self.assertEqual(self.shown("#filter"), 1)
        everything = self.shown(lit)
        choose("op", "add")
        self.assertEqual(self.shown(lit), sum("add" in cell["op"] for cell in self.cells()))
        self.assertLess(self.shown(".matrix tbody tr"), everything)
        choose("dtype", "f32")
        self.assertEqual(self.shown(lit), sum("add" in cell["op"] and cell["dtype"] == "f32" for cell in self.cells()))
        choose("op", "")
        choose("dtype", "")
        choose("status", "problem")
        self.assertEqual(self.shown(lit), sum(cell["state"] == "FAIL" for cell in self.cells()))
        self.assertEqual(self.shown(".failure"), len(self.report["failures"]))
        choose("status", "PASS")
        self.assertEqual(self.shown(".failure"), 0)
        self.assertIn(" of ", self.browser.value("document.getElementById('filter-count').textContent"))
        self.browser.value("document.getElementById('filter-clear').click()")
        self.assertEqual(self.shown(lit), everything)
        self.assertEqual(self.shown(".failure"), len(self.report["failures"]))
        self.assert_quiet(self.path)

    def test_keys_and_details(self):
        self.load()
        value = self.browser.value
        value("document.querySelector('.matrix td > a').focus()")
        first = value("document.activeElement.getAttribute('href')")
        self.assertEqual(self.shown("#card"), 1)
        self.browser.press("ArrowRight")
        self.assertNotEqual(value("document.activeElement.getAttribute('href')"), first)
        self.assertIn("cases", value("document.getElementById('card').textContent"))
        target = value("document.activeElement.getAttribute('href').slice(1)")
        value("document.activeElement.click()")
        self.assertTrue(self.browser.until(lambda: value(f"document.getElementById({target!r}).closest('details').open")))
        said = value("(button => new Promise(done => { new MutationObserver(() => done(button.textContent))"
                     ".observe(button, {childList: true}); button.click(); }))(document.querySelector('.copy button'))")
        self.assertIn(said, ("Copied", "Selected"))
        self.assert_quiet(self.path)

    def test_it_fits_a_phone_in_the_dark(self):
        self.browser.look(375, 700, dark=True, phone=True)
        self.browser.open(self.path)
        self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), 375)
        dark = self.browser.value("getComputedStyle(document.body).backgroundColor")
        self.browser.look(375, 700, phone=True)
        self.assertNotEqual(self.browser.value("getComputedStyle(document.body).backgroundColor"), dark)
        self.assert_quiet(self.path)

    def test_without_script_it_says_what_became_of_the_run(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        self.load()
        self.browser.call("DOM.enable")
        root = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        def nodes(selector):
            return self.browser.call("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]
        def text(selector):
            return self.browser.call("DOM.getOuterHTML", nodeId=nodes(selector)[0])["outerHTML"]
        self.assertIn("planted_wrong fails: ", text("h1"))
        self.assertIn(f"{self.report['counts']['FAIL']} FAIL", text("noscript p"))
        self.assertTrue(self.browser.call("DOM.getBoxModel", nodeId=nodes("noscript p")[0])["model"]["width"])
        self.assertEqual(nodes("main > *"), [])
        self.assert_quiet(self.path)

    def page_of(self, report, name):
        """The path of the page that is made from a report.json of this content."""
        source = os.path.join(self.temporary.name, name + ".json")
        with open(source, "w", encoding="utf-8") as file:
            json.dump(report, file)
        folder = os.path.join(self.temporary.name, name)
        result = run("tenon-conformance", "report", source, "--report", folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return os.path.join(folder, "report.html")

    def test_the_page_holds_the_report(self):
        self.load()
        self.assertEqual(self.browser.value("JSON.parse(document.getElementById('report').textContent)"), self.report)

    def test_a_plot_draws_the_bound_and_marks_an_error_beyond_it(self):
        report = read(self.folder)
        tried = [cell for cell in report["cells"] if cell["ulps"]]
        self.assertGreater(len(tried), 1)
        for cell in tried:
            for sample in cell["ulps"]:
                sample.update(ulp=1, bound=3)
        one = tried[0]["ulps"][0]
        one.update(ulp=900, at=40)
        for sample in tried[1]["ulps"]:
            sample["ulp"] = 0
        page = self.page_of(report, "plots")
        self.load(page)
        self.assertEqual(self.shown("figure svg .error"), len(tried) - 1)
        self.assertEqual(self.shown("figure svg .bound"), len(tried) - 1)
        self.assertEqual(self.browser.value("[...document.querySelectorAll('.over title')].map(one => one.textContent)"),
                         ["900 ULP at 40, allowed 3"])
        self.assertIn(f"at every operand tried: {tried[1]['op']} {tried[1]['dtype']}.",
                      self.browser.value("document.getElementById('accuracy').parentNode.textContent"))
        self.assert_quiet(page)

    def test_the_tables_of_facts(self):
        report = read(self.folder)
        report["properties"] = {"max_buffer_bytes": 2 ** 64 - 1, "strict": True, "note": None,
                                "dtypes": [{"name": "f32", "rate": 1}, {"name": "f16", "rate": 20000}],
                                "limits": {"grid": [1, 2, 3]}}
        report["coverage"]["dtypes_never_reached"] = {"take": ["f64", "f16"]}
        report["failures"][0]["diff"] = "[0, 2]\t4 in [3.5, 4.5]\tnan\tinf\nno table"
        page = self.page_of(report, "facts")
        self.load(page)
        def text(identity):
            return self.browser.value(f"[...document.getElementById('{identity}').parentNode.querySelectorAll('tr')].map("
                                      "row => [...row.children].map(field => field.textContent).join(' | '))")
        self.assertEqual(text("declarations"),
                         ["max buffer bytes | 18,446,744,073,709,551,615", "strict | yes", "note | not known",
                          "name | rate", "f32 | 1", "f16 | 20,000", "grid | 1, 2, 3"])
        self.assertEqual(self.browser.value("document.querySelector('.names').textContent"), "take f64, f16")
        self.assertEqual(text("failures")[:3], ["element | expected | got | ULP apart",
                                                "[0, 2] | 4 in [3.5, 4.5] | nan | inf", "no table"])
        self.assert_quiet(page)

    def test_text_of_a_plugin_stays_text(self):
        report = read(self.folder)
        report["device"] = report["backend"] = report["declaration"] = HOSTILE
        report["properties"] = {"name": HOSTILE, HOSTILE: [{HOSTILE: HOSTILE}], "deep": {HOSTILE: [HOSTILE]}}
        for field in ("text", "replay", "reproducer", "diff", "votes", "transform", "layout", "kind"):
            report["failures"][0][field] = HOSTILE
        for field in ("op", "dtype"):
            report["cells"][0][field] = HOSTILE
        page = self.page_of(report, "hostile")
        xml.etree.ElementTree.fromstring(read(os.path.dirname(page), "junit.xml"))
        self.load(page)
        self.assertNotEqual(self.browser.value("document.title"), "taken")
        self.assertEqual(self.browser.value("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.value("document.querySelectorAll('script').length"), 3)
        self.assertIn("</script><script>", self.browser.value("document.querySelector('h1').textContent"))
        shown = self.browser.value("document.querySelector('.failure .facts').textContent")
        self.assertIn("</script><script>", shown)
        self.assertIn("\u241b\u2400\ufffdend", shown)  # pictures of control characters; text does not turn round
        self.assert_quiet(page)

    def test_a_planted_error_is_seen(self):
        """The checks above can fail: an exception, a message and a request are noticed."""
        text = read(self.folder, "report.html")
        for name, planted in {
                "throws": ("<script>throw new Error('planted')</script>", "planted"),
                "says": ("<script>console.error('planted')</script>", "planted"),
                "asks": ("<img src='http://127.0.0.1:9/planted.png'>", "Content Security Policy")}.items():
            path = os.path.join(self.temporary.name, name + ".html")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace("</main>", planted[0] + "</main>"))
            self.browser.errors.clear()
            self.load(path)
            self.assertTrue(self.browser.until(lambda: planted[1] in " ".join(self.browser.errors)), name)
        path = os.path.join(self.temporary.name, "fetches.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write("<!doctype html><img src='http://127.0.0.1:9/planted.png'>")
        self.load(path)
        self.assertIn("http://127.0.0.1:9/planted.png", self.browser.requests)


if __name__ == "__main__":
    unittest.main()
