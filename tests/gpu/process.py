# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One command, bounded: it ends, is ended when its time is up, or when this program is stopped."""
import ctypes
import os
import signal
import subprocess
import time

GRACE_SECONDS = 20  # to write what it has
LIBC = ctypes.CDLL(None)
END_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class Stopped(Exception):
    """By a signal."""

    def __init__(self, number):
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.number = number


def stop_by_signals():
    def stop(number, _):
        raise Stopped(number)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def has_ended(process):
    """It stays a zombie, so that its number, and that of its group, is nobody else's."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def wait(process, seconds, tick=lambda seconds: None):
    """Whether it ended within that time."""
    begin = time.monotonic()
    while not has_ended(process):
        passed = time.monotonic() - begin
        if passed > seconds:
            return False
        tick(passed)
        time.sleep(min(0.1, seconds))
    return True


def end(process):
    """It may write what it has; what is left of it and of its children goes."""
    try:
        if not has_ended(process):
            process.send_signal(signal.SIGTERM)  # its children are its own to end
            wait(process, GRACE_SECONDS)
    except Stopped:
        pass  # once more: at once
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run(command, environment, folder, limit, tick):
    """(exit code, seconds, whether its time was up). Output and errors go to stdout and log.txt in the folder. Raises Stopped
    when this process is to stop, having ended the command."""
    begin = time.monotonic()
    with open(os.path.join(folder, "stdout"), "wb") as out, open(os.path.join(folder, "log.txt"), "ab") as log:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=log,
                                   start_new_session=True, preexec_fn=lambda: LIBC.prctl(END_WITH_PARENT, signal.SIGTERM))
        in_time = True
        try:
            in_time = wait(process, limit, tick)
        finally:
            end(process)
    return process.returncode, time.monotonic() - begin, not in_time
