# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is run, one stage after another, how long each may take, and what its end means."""
import json
import os
import re
import signal
from dataclasses import dataclass

# Seconds of new work in each stage, by --budget; --time shares its seconds as smoke does.
BUDGETS = {
    "smoke": {"smoke": 20, "run": 40, "fuzz": 60, "bench": 75, "models": 45},
    "ci": {"smoke": 30, "run": 120, "fuzz": 300, "bench": 300, "models": 180},
    "nightly": {"smoke": 30, "run": 1200, "fuzz": 14400, "bench": 1200, "models": 600},
}
TITLES = {
    "smoke": "conformance, a first pass",
    "run": "conformance, every cell, every rule, what was once wrong",
    "fuzz": "conformance, other random cases",
    "bench": "passes, products, launches",
    "models": "models",
}
# Of a status, what the exit code of the whole is.
EXIT = {"passed": 0, "failed": 1, "crashed": 1, "timed out": 1, "not run": 3}
DONE = ("passed", "failed")  # others are tried again by the next call
LITTLE = 8  # of tenon-conformance: nothing failed, and its time was up early
CONFORMANCE_ENDS = {4: "the device was lost three times", 5: "the device is in doubt: it did not start, or did not know a known answer"}


@dataclass
class Stage:
    name: str
    command: list
    seconds: float  # of new work
    limit: float    # after which it is ended

    @property
    def is_bench(self):
        return self.name in ("bench", "models")


def seconds_of(budget, total):
    if not total:
        return dict(BUDGETS[budget])
    shares = BUDGETS["smoke"]
    return {name: total * share / sum(shares.values()) for name, share in shares.items()}


def plan(build, device, seconds, seed, jobs, python):
    """`python`: with PyTorch, or ""."""
    program = os.path.join(build, "bin", "tenon-{}").format
    ident, stages = device["id"], []
    for name, limit in seconds.items():
        time = f"{limit:.3g}"
        if name in ("bench", "models"):
            only = f"^models/.* on {ident}$" if name == "models" else f"^(?!models/).* on {ident}$"
            command = [program("bench"), "--json", "--device", ident, "--only", only, "--time", time]
            command += ["--peers", python] if python else []
            stages.append(Stage(name, command, limit, 2 * limit + 60))  # the row that was begun may be a long one
            continue
        command = [program("conformance"), "run" if name == "run" else "fuzz", "--backend", ident,
                   "--seed", str(seed + (name == "fuzz")), "--jobs", str(jobs), "--time", time]
        # Failures are confirmed and shrunk after the time is up.
        stages.append(Stage(name, command, limit, 2 * limit + 180))
    return stages


def last_line(folder):
    try:
        with open(os.path.join(folder, "log.txt"), encoding="utf-8", errors="replace") as file:
            lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in file]
    except OSError:
        return ""
    return next((line[:300] for line in reversed(lines) if line), "")


def report_of(folder):
    """report.json of a conformance run, or None."""
    try:
        with open(os.path.join(folder, "report", "report.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def bench_of(folder, ident):
    """What tenon-bench printed or, if it did not come to that, the rows that it had told of."""
    try:
        with open(os.path.join(folder, "stdout"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        pass
    rows = []
    try:
        with open(os.path.join(folder, "log.txt"), encoding="utf-8", errors="replace") as file:
            for line in file:
                row = re.match(rf"(.+ on {re.escape(ident)}): ([0-9.]+) (\S+)$", line.rstrip())
                if row:
                    rows.append({"name": row[1], "ours": float(row[2]), "unit": row[3]})
    except OSError:
        pass
    return {"rows": rows, "partial": True}


def ending(stage, code, timed_out, folder):
    """(status, note) of a stage that ended in that way."""
    if timed_out:
        return "timed out", f"ended after {stage.limit:.0f} s"
    if code < 0:
        return "crashed", f"ended by {signal.strsignal(-code) or f'signal {-code}'}"
    if code == 0:
        return "passed", ""
    if code == LITTLE and not stage.is_bench and report_of(folder):
        return "passed", "less than one case an op and dtype was tried"
    if code == 1 and not stage.is_bench and report_of(folder):
        return "failed", ""
    if code == 1 and stage.is_bench and any(row.get("wrong") for row in bench_of(folder, "")["rows"]):
        return "failed", "a wrong result"
    if not stage.is_bench and code in CONFORMANCE_ENDS:
        return "failed", CONFORMANCE_ENDS[code]
    told = last_line(folder)
    return ("not run" if code == 3 else "crashed"), f"exit code {code}{': ' + told if told else ''}"
