# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which device is meant, and what it is called in the names of files."""
import json
import re
import subprocess

FIRST = ("cuda", "hip")  # without a selector; then vulkan, if what it drives is a GPU
SELECTOR = re.compile(r"[a-z][a-z0-9_]*(:[0-9]+)?\Z")
PROBE_SECONDS = 300


class NotThere(Exception):
    """What was looked for, and what was found."""


def survey(tenon, environment):
    """What `tenon devices --json` says."""
    try:
        said = subprocess.run([tenon, "devices", "--json"], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PROBE_SECONDS, check=False)
        return json.loads(said.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise NotThere(f"expected `tenon devices --json` to list devices, got {error}") from error


def described(device):
    text = f"{device['id']} ({device['kind']}, {device['name']})"
    return text if device["selftest"] == "pass" else f"{text}, whose self-test failed: {device['reason']}"


def found(devices):
    """All of a survey, for a message."""
    parts = [described(device) for device in devices["devices"]]
    parts += [f"{plugin['backend']}: {plugin['reason']}" for plugin in devices["plugins"] if plugin["reason"]]
    return "; ".join(parts) or "no plugin"


def choose(devices, selector):
    """The device of a survey that `selector` names, or the first GPU. Throws NotThere."""
    usable = [device for device in devices["devices"] if device["kind"] != "storage"]
    if selector:
        fits = [device for device in usable if selector in (device["id"], device["backend"])]
        fits.sort(key=lambda device: device["selftest"] != "pass")
        if not fits:
            raise NotThere(f"[--device] expected a device \"{selector}\", found {found(devices)}")
        return fits[0]
    for backend in (*FIRST, "vulkan"):
        for device in usable:
            if device["backend"] == backend and device["kind"] == "gpu" and device["selftest"] == "pass":
                return device
    raise NotThere(f"expected a GPU of {', '.join(FIRST)} or vulkan, found {found(devices)}; --device takes any of them")


def is_software(device):
    return device["kind"] == "cpu"


def file_name(device):
    """Of its name and its backend: what one GPU does by two backends are two pages."""
    words = re.sub(r"[^a-z0-9]+", "-", device["name"].lower()).strip("-")[:60].strip("-")
    return f"{words or 'device'}-{device['backend']}"
