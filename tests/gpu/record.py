# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each stage came to, kept in a folder of its own, so that a run that was stopped goes on where it was."""
import datetime
import fcntl
import json
import os
import shutil


class Busy(Exception):
    """Another run has the folder."""


def write(path, text):
    """Whole or not at all."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)


class Record:
    def __init__(self, folder, fresh):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.lock = open(os.path.join(folder, "lock"), "w", encoding="utf-8")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Busy(f"expected {folder} to be free, found another run that uses it") from error
        if fresh:
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if os.path.isdir(path):
                    shutil.rmtree(path)
                elif name != "lock":
                    os.remove(path)

    def path(self, stage):
        return os.path.join(self.folder, stage)

    def load(self, stage, subject, command):
        """The result of this command on this subject, or None."""
        try:
            with open(os.path.join(self.path(stage), "result.json"), encoding="utf-8") as file:
                kept = json.load(file)
            return kept if kept["subject"] == subject and kept["command"] == command else None
        except (OSError, ValueError, KeyError):
            return None

    def begin(self, stage, subject, command, keep):
        """A folder for it: that of a run that was stopped, if `keep`, or an empty one."""
        if not keep:
            shutil.rmtree(self.path(stage), ignore_errors=True)
        os.makedirs(self.path(stage), exist_ok=True)
        return self.end(stage, subject, command, "stopped", "it was ended from outside", 0)

    def end(self, stage, subject, command, status, note, seconds):
        result = {"stage": stage, "status": status, "note": note, "seconds": round(seconds, 1), "command": command,
                  "subject": subject, "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")}
        write(os.path.join(self.path(stage), "result.json"), json.dumps(result, indent=1) + "\n")
        return result
