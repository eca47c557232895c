# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forked, spawned, interrupted and ending processes; imports."""
import subprocess
import sys


def run(code, timeout=120, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout, **options)


def test_a_fork_is_told():
    result = run("""
import os, tenon as tn
x = tn.realize(tn.ones(2) + 1)
if os.fork() == 0:
    try:
        print((x + 1).tolist())
    except ValueError as error:
        print(error)
    os._exit(0)
os.wait()
print((x + 1).tolist())
""")
    assert result.returncode == 0, result.stderr
    assert "expected a Context made in this process" in result.stdout and "[3.0, 3.0]" in result.stdout


def test_a_spawned_process_computes():
    result = run("""
import multiprocessing, tenon as tn
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(abs, [tn.asarray([-1.0]), tn.asarray([-2.0])]))
""")
    assert result.returncode == 0, result.stderr
    assert "1." in result.stdout and "2." in result.stdout


def test_ending_with_tensors_everywhere():
    """Globals, cycles, compiled functions in themselves, threads that go on: no crash as the process ends."""
    result = run("""
import threading, tenon as tn
x = tn.ones(3)
class Node: pass
a = Node(); a.self = a; a.x = x + 1
@tn.compile
def f(y):
    return y + a.x + (f.traces * 0)
print(f(x).tolist())
a.f = f
def work():
    while True:
        tn.ones(64).sum().item()
threading.Thread(target=work, daemon=True).start()
""")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[3.0, 3.0, 3.0]\n"


def test_an_import_opens_no_device():
    result = run("""
import sys, time
begin = time.perf_counter()
import tenon
print(time.perf_counter() - begin)
assert "numpy" not in sys.modules
maps = open("/proc/self/maps").read()
assert "libtenon_cpu" not in maps and "libLLVM" not in maps, maps
""")
    assert result.returncode == 0, result.stderr


def test_an_interrupt_comes_when_the_call_returns():
    result = run("""
import os, signal, threading, tenon as tn
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    for _ in range(10 ** 6):
        tn.ones((64, 64)).sum().item()
except KeyboardInterrupt:
    print("interrupted", tn.ones(2).tolist())
""")
    assert result.stdout == "interrupted [1.0, 1.0]\n", result.stderr
