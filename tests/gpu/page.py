# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of a run: what was run on what, every figure, what failed, what was not run and why."""
import os

import stages
from device import is_software

STATUSES = ("PASS", "VACUOUS", "UNSUPPORTED", "FAIL", "CRASH", "TIMEOUT", "DEVICE_LOST", "FLAKY", "XFAIL", "XPASS", "TOOL_ERROR")
BAD = ("FAIL", "CRASH", "TIMEOUT", "DEVICE_LOST", "FLAKY", "XPASS")
MOST_FAILURES = 50
MOST_NAMES = 12


def cell(text):
    """Of a table in Markdown: whatever a driver says is text."""
    return " ".join(str(text).split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def code(text):
    return f"`{' '.join(str(text).split()).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def shown(command, source):
    """As one would type it in the source folder."""
    home = os.path.expanduser("~")
    words = [os.path.relpath(word, source) if word.startswith(source + os.sep) else word for word in command]
    words = ["~" + word[len(home):] if home != "/" and word.startswith(home + os.sep) else word for word in words]
    return " ".join(f"'{word}'" if set(word) & set(" ()^$*?!|") else word for word in words)


def figure(value):
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def ratio(value):
    return "" if value is None else f"**{value:.2f}**" if value < 0.7 else f"{value:.2f}"


def bad_cases(report):
    return sum(report["counts"].get(status, 0) for status in BAD)


def summary(stage, result, folder, ident):
    """In a line."""
    if stage.is_bench:
        bench = stages.bench_of(folder, ident)
        late = f", {len(bench['not_run'])} not begun" if bench.get("not_run") else ""
        text = f"{len(bench['rows'])} rows{late}"
    else:
        report = stages.report_of(folder)
        text = f"{report['cases']:,} cases, {bad_cases(report)} of them bad" if report else "no report"
    return f"{text}; {result['note']}" if result["note"] else text


def introduction(device, facts, results, command):
    dates = sorted({result["date"][:10] for result in results.values()})
    when = " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "not run"
    changed = ", with changes that are not committed" if facts["changes"] else ""
    lines = [f"# {cell(device['name'])}, by {device['backend']}", "",
             f"{code(command)}, {when}, commit {code(facts['commit'])}{changed}. Written by that command; "
             "what each stage did is in the bundle that it wrote too.", ""]
    if is_software(device):
        lines += ["**This is a software device: a processor that does what a GPU would do. Its times say nothing of any GPU.**", ""]
    lines += ["| | |", "|---|---|",
              f"| device | {cell(device['id'])}: {cell(device['name'])}, {device['kind']} |",
              f"| self-test | {cell(device['selftest'])}{': ' + cell(device['reason']) if device['reason'] else ''} |",
              f"| machine | {cell(facts['processor'])}, {facts['cores']} cores, {facts['memory_gib']} GiB |",
              f"| system | {cell(facts['system'])}, Linux {cell(facts['kernel'])}, Python {facts['python']} |"]
    lines += [f"| driver | {cell(line)} |" for line in facts["drivers"]] or ["| driver | its own tools and files were not found |"]
    lines += [f"| libraries | {cell(', '.join(facts['libraries'])) or 'none of a GPU'} |",
              f"| beside | {cell(facts['peers'])} |",
              f"| programs | hash {facts['programs']} |"]
    if facts["settings"]:
        lines.append(f"| set | {', '.join(facts['settings'])} |")
    return lines


def table_of_stages(plan, results, source):
    lines = ["## Stages", "", "| stage | what | result | seconds | command |", "|---|---|---|---|---|"]
    for stage in plan:
        result = results.get(stage.name)
        status, took = ("not run", "") if not result else (result["status"], figure(result["seconds"]))
        strong = f"**{status}**" if status not in ("passed", "not run") else status
        note = f": {cell(result['note'])}" if result and result["note"] else ""
        lines.append(f"| {stage.name} | {stages.TITLES[stage.name]} | {strong}{note} | {took} | {code(shown(stage.command, source))} |")
    return lines


def conformance(plan, results, record):
    reports = [(stage.name, stages.report_of(record.path(stage.name)))
               for stage in plan if not stage.is_bench and stage.name in results]
    reports = [(name, report) for name, report in reports if report]
    lines = ["## Right", ""]
    if not reports:
        return lines + ["No conformance run left a report."]
    used = [s for s in STATUSES if s in STATUSES[:4] or any(report["counts"].get(s) for _, report in reports)]
    lines += [f"| stage | seed | cases | seconds | {' | '.join(used)} |", "|---|---|---|---|" + "---|" * len(used)]
    for name, report in reports:
        counts = [report["counts"].get(status, 0) for status in used]
        marked = [f"**{n:,}**" if n and status in BAD else f"{n:,}" for n, status in zip(counts, used)]
        lines.append(f"| {name} | {report['seed']} | {report['cases']:,} | {figure(report['seconds'])} | {' | '.join(marked)} |")
    lines += ["", f"The device declares: {cell(reports[0][1]['declaration'])}. "
              f"What passing cases made use of: {cell(reports[-1][1]['profile']['proposal']) or 'all of it'}."]
    failures = [(name, failure) for name, report in reports for failure in report["failures"]]
    if failures:
        lines += ["", "What failed, each shrunk as far as it went; its file is in the bundle:", "",
                  "| stage | status | op | dtype | what | again |", "|---|---|---|---|---|---|"]
        for name, f in failures[:MOST_FAILURES]:
            what = f"{name} | {f['status']} | {cell(f['op'])} | {cell(f['dtype'])} | {cell(f['text'])[:400]}"
            lines.append(f"| {what} | {code(f['replay'])} |")
        if len(failures) > MOST_FAILURES:
            lines.append(f"\nand {len(failures) - MOST_FAILURES} more, in the bundle.")
    for name, report in reports:
        lines += [f"\n{name}: {cell(note)}" for note in report["notes"]]
    return lines


def bench(title, stage, results, record, ident):
    lines = [f"## {title}", ""]
    if stage.name not in results:
        return lines + ["Not run."]
    facts = stages.bench_of(record.path(stage.name), ident)
    if not facts["rows"]:
        return lines + ["No row was measured."]
    if facts.get("partial"):
        lines += ["The program did not end by itself: these are the rows that it had told of, without what was beside them.", ""]
    lines += ["| | here | unit | peer | ratio | of a copy | spread | the peer is |", "|---|---|---|---|---|---|---|---|"]
    for row in facts["rows"]:
        name = cell(row["name"].removeprefix("models/").removesuffix(f" on {ident}"))
        peer, limit, spread = row.get("peer"), row.get("limit_ratio"), row.get("spread")
        wrong = f" **wrong result: {cell(row['wrong'])}**" if row.get("wrong") else ""
        lines.append(f"| {name}{wrong} | {figure(row['ours'])} | {row['unit']} | {'' if peer is None else figure(peer)} | "
                     f"{ratio(row.get('ratio'))} | {'' if limit is None else f'{limit:.2f}'} | "
                     f"{'' if spread is None else f'{100 * spread:.1f}%'} | {cell(row.get('peer_name', ''))} |")
    load = facts.get("machine", {}).get("load", 0)
    if load > 0.3:
        lines += ["", f"{load:.1f} processes were running in the minute before: rates say little, and ratios less than they should."]
    return lines


def not_run(plan, results, record, facts, ident):
    lines = []
    for stage in plan:
        result = results.get(stage.name)
        if not result:
            lines.append(f"- {stage.name}: not run, as the run was stopped before it.")
            continue
        if result["status"] not in stages.DONE:
            lines.append(f"- {stage.name} {result['status']}: {cell(result['note'])}. The same command tries it again.")
        if stage.is_bench:
            rows = stages.bench_of(record.path(stage.name), ident).get("not_run", [])
            if rows:
                more = f" and {len(rows) - MOST_NAMES} more" if len(rows) > MOST_NAMES else ""
                lines.append(f"- {stage.name}: no time was left for {', '.join(code(row) for row in rows[:MOST_NAMES])}{more}.")
        else:
            report = stages.report_of(record.path(stage.name))
            if report and report["stopped"]:
                lines.append(f"- {stage.name}: {cell(report['stopped'])}, so not all cases were tried.")
    if facts["peers"].startswith("none"):
        lines.append(f"- PyTorch beside it: {cell(facts['peers'])}. No figure here is held against a vendor's library.")
    else:
        rows = [row for stage in plan if stage.is_bench for row in stages.bench_of(record.path(stage.name), ident)["rows"]]
        if rows and not any(row.get("peer") and row["peer_name"].startswith("torch") for row in rows):
            said = cell(rows[-1].get("peer_name", "")) or "nothing was said of why"
            lines.append(f"- PyTorch beside it: it was there, and ran no row ({said}). No figure here is held against a vendor's library.")
    return ["## Not run", "", *(lines or ["Nothing was left out."])]


def of(device, facts, plan, results, record, source, command):
    by_name, ident = {stage.name: stage for stage in plan}, device["id"]
    parts = [introduction(device, facts, results, command), table_of_stages(plan, results, source),
             conformance(plan, results, record), bench("Fast", by_name["bench"], results, record, ident),
             bench("Models", by_name["models"], results, record, ident), not_run(plan, results, record, facts, ident)]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"
