#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""./dev gpu: builds, tries a GPU and measures it: its devices, conformance, benches and models beside PyTorch where that is
there; writes a page of it and a bundle to send. What is done is kept, and the next call goes on from there.

Exit codes: 0 ok, 1 something failed, 2 bad usage, 3 environment; 130 or 143 when it was stopped.
"""
import argparse
import json
import os
import subprocess
import sys
import tarfile
import time

import device as devices
import machine
import page
import stages
from process import Stopped, run, stop_by_signals
from record import Busy, Record, write

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What would change what is run; the places of plugins stay.
UNSET = ("TENON_DEVICES", "TENON_LOG", "TENON_MATMUL", "TENON_PROFILE", "TENON_VALIDATE")


class Environment(Exception):
    """Something that is needed is not there."""


class Terminal:
    """Progress, on standard error where that is a terminal; results on standard output."""

    def __init__(self):
        self.live = sys.stderr.isatty()
        self.colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def progress(self, text=""):
        if self.live:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def say(self, text):
        self.progress()
        print(text, flush=True)

    def status(self, status):
        good = {"passed": "32", "not run": "33", "stopped": "33"}.get(status, "31")
        return f"\033[{good}m{status}\033[0m" if self.colours else status


def number(text):
    value = float(text)
    if not 0 < value < 1e7:
        raise ValueError
    return value


def options():
    parser = argparse.ArgumentParser(prog="./dev gpu", description=__doc__.split("\n\n", maxsplit=1)[0],
                                     epilog=__doc__.split("\n\n")[1])
    parser.add_argument("--device", metavar="SELECTOR", default="",
                        help="a backend or one of its devices, as cuda, hip:1, vulkan (the first GPU of cuda, hip, vulkan)")
    parser.add_argument("--budget", choices=list(stages.BUDGETS), default="smoke",
                        help="how long it measures: smoke 4 min (the default), ci 16 min, nightly 5 h; builds and starts come on top")
    parser.add_argument("--time", metavar="SECONDS", type=number, default=0, help="instead of a budget: of all stages together")
    parser.add_argument("--seed", type=int, default=1, help="of the conformance cases (1)")
    parser.add_argument("--jobs", type=int, default=max(1, min(16, len(os.sched_getaffinity(0)) - 1)),
                        help="worker processes of the conformance runs (one a core, but one; at most 16)")
    parser.add_argument("--peers", metavar="PYTHON", default="",
                        help="an interpreter with PyTorch, or none (/opt/peers/bin/python3 or python3, if PyTorch there sees a GPU)")
    parser.add_argument("--out", metavar="FOLDER", default="",
                        help="of the page and the bundle (docs/measured, and the build folder's gpu)")
    parser.add_argument("--build", metavar="FOLDER", default=os.path.join(SOURCE, "build"), help="of the build (build)")
    parser.add_argument("--no-build", action="store_true", help="runs what is built, as it is")
    parser.add_argument("--fresh", action="store_true", help="forgets what earlier calls have done")
    chosen = parser.parse_args()
    if chosen.device and not devices.SELECTOR.match(chosen.device):
        parser.error(f"argument --device: expected a backend and maybe an index, as cuda or hip:1, got \"{chosen.device}\"")
    if chosen.seed < 0 or not 1 <= chosen.jobs <= 256:
        parser.error("expected --seed from 0, --jobs from 1 to 256")
    chosen.build = os.path.abspath(chosen.build)
    return chosen


def build(folder):
    """A build that is there needs no packages, and so no network."""
    command = ["./dev", "build"]
    if os.path.exists(os.path.join(folder, "build.ninja")):
        command = ["ninja", "-C", folder] + (["-j", os.environ["TENON_JOBS"]] if os.environ.get("TENON_JOBS") else [])
    elif folder != os.path.join(SOURCE, "build"):
        raise Environment(f"[--build] expected a build folder, found no {folder}/build.ninja")
    try:
        code = subprocess.run(command, cwd=SOURCE, stdout=sys.stderr, check=False).returncode
    except OSError as error:
        raise Environment(f"expected {command[0]}, got {error}") from error
    if code:
        raise Environment(f"expected the build to pass, got exit code {code} of {' '.join(command)}; --no-build runs what is there")


def needed(folder):
    for name in ("tenon", "tenon-probe", "tenon-conformance", "tenon-bench"):
        if not os.access(os.path.join(folder, "bin", name), os.X_OK):
            raise Environment(f"expected {name} in {folder}/bin; without --no-build it is built")


def try_stage(stage, record, subject, environment, terminal):
    """Its result, kept or new. Raises Stopped, having written down that it was."""
    kept = record.load(stage.name, subject, stage.command)
    if kept and kept["status"] in stages.DONE:
        return kept, True
    folder = record.path(stage.name)
    command, report = list(stage.command), os.path.join(folder, "report")
    goes_on = bool(kept) and kept["status"] == "stopped" and os.path.exists(os.path.join(report, "state.json"))
    record.begin(stage.name, subject, stage.command, goes_on)
    begin = time.monotonic()

    def tick(seconds):
        terminal.progress(f"gpu: {stages.TITLES[stage.name]}, {seconds:.0f} of about {stage.seconds:.0f} s")
    try:
        if not stage.is_bench:
            command += ["--report", report]
        if goes_on:
            code, seconds, late = run([*command, "--resume"], environment, folder, stage.limit, tick)
            if code == 2:  # what was left cannot be gone on with
                record.begin(stage.name, subject, stage.command, False)
                goes_on = False
        if not goes_on:
            code, seconds, late = run(command, environment, folder, stage.limit, tick)
    except Stopped as stopped:
        record.end(stage.name, subject, stage.command, "stopped", str(stopped), time.monotonic() - begin)
        raise
    status, note = stages.ending(stage, code, late, folder)
    return record.end(stage.name, subject, stage.command, status, note, seconds), False


def pack(path, name, record, text):
    """Everything but the lock, under one folder."""
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return None if os.path.basename(entry.name) in ("lock",) or entry.name.endswith(".part") else entry
    with tarfile.open(path + ".part", "w:gz") as bundle:
        bundle.add(text, f"{name}/{name}.md", filter=plain)
        bundle.add(record.folder, name, filter=plain)
    os.replace(path + ".part", path)


def prepare(chosen, environment):
    """(the device, its record, facts of the machine)"""
    tenon = os.path.join(chosen.build, "bin", "tenon")
    survey = devices.survey(tenon, environment)
    device = devices.choose(survey, chosen.device)
    record = Record(os.path.join(chosen.build, "gpu", devices.file_name(device)), chosen.fresh)
    facts, outputs = machine.facts(SOURCE, chosen.build, device["backend"])
    write(os.path.join(record.folder, "devices.json"), json.dumps(survey, indent=1) + "\n")
    write(os.path.join(record.folder, "doctor.txt"), machine.said_by([tenon, "doctor"], 300) + "\n")
    python, facts["peers"] = machine.find_torch(chosen.peers)
    write(os.path.join(record.folder, "machine.json"), json.dumps(facts, indent=1) + "\n")
    write(os.path.join(record.folder, "drivers.txt"), "".join(f"== {name}\n{text}\n" for name, text in outputs.items()))
    return device, record, facts, python


def work(chosen, terminal):
    if not chosen.no_build:
        build(chosen.build)
    needed(chosen.build)
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    terminal.progress("gpu: which devices are there")
    device, record, facts, python = prepare(chosen, environment)
    name = "gpu-" + devices.file_name(device)
    terminal.say(f"{device['id']}: {device['name']}{', a software device' if devices.is_software(device) else ''}")
    subject = {key: facts[key] for key in ("commit", "changes", "programs", "drivers", "libraries")} | {"device": device}
    seconds = stages.seconds_of(chosen.budget, chosen.time)
    results, stopped = {}, None
    out = chosen.out or os.path.join(SOURCE, "docs", "measured")
    os.makedirs(out, exist_ok=True)
    text = os.path.join(out, name + ".md")
    plan = stages.plan(chosen.build, device, seconds, chosen.seed, chosen.jobs, python)
    for stage in plan:
        try:
            result, was_done = try_stage(stage, record, subject, environment, terminal)
        except Stopped as error:
            stopped = error
            result, was_done = record.load(stage.name, subject, stage.command), False
        results[stage.name] = result
        told = page.summary(stage, result, record.path(stage.name), device["id"])
        terminal.say(f"{stage.name:<8} {terminal.status(result['status'])}{', done before' if was_done else ''}: {told}")
        if stopped:
            break
    write(text, page.of(device, facts, plan, results, record, SOURCE, command_line(chosen)))
    bundle = os.path.join(chosen.out or os.path.join(chosen.build, "gpu"), name + ".tar.gz")
    pack(bundle, name, record, text)
    terminal.say(f"page: {text}\nbundle: {bundle}")
    if stopped:
        print(f"gpu: {stopped}; the same command goes on from there", file=sys.stderr)
        return 128 + stopped.number
    codes = {stages.EXIT[result["status"]] for result in results.values()} | {0 if device["selftest"] == "pass" else 1}
    return 1 if 1 in codes else max(codes)


def command_line(chosen):
    words = ["./dev gpu"]
    words += ["--device", chosen.device] if chosen.device else []
    words += ["--time", f"{chosen.time:g}"] if chosen.time else ["--budget", chosen.budget]
    words += ["--seed", str(chosen.seed)] if chosen.seed != 1 else []
    return " ".join(words)


def main():
    chosen, terminal = options(), Terminal()
    stop_by_signals()
    try:
        return work(chosen, terminal)
    except (Environment, devices.NotThere, machine.NoPeers, Busy, OSError) as error:
        terminal.progress()
        print(f"gpu: {error}", file=sys.stderr)
        return 3
    except Stopped as error:
        terminal.progress()
        print(f"gpu: {error}", file=sys.stderr)
        return 128 + error.number


if __name__ == "__main__":
    sys.exit(main())
