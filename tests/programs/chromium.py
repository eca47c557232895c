# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A headless Chromium that is driven through its DevTools protocol, and what a page did in it."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request

import websocket  # Debian: python3-websocket

SECONDS = 60


class Browser:
    """One page in a fresh profile. `errors` and `requests` grow as the page runs."""

    def __init__(self):
        program = shutil.which("chromium")
        assert program, "expected the program chromium (./dev setup installs it), found none"
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(
            [program, "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", *sandbox,
             "--remote-debugging-port=0", f"--user-data-dir={self.profile.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.errors, self.requests, self.loads, self.next_id = [], [], 0, 0
        self.socket = websocket.create_connection(self._page(), timeout=SECONDS, suppress_origin=True)
        self.until(lambda: self.value("document.readyState") == "complete")  # or that load would count as the next one's
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def _page(self):
        """The address of the page's socket, as soon as the browser has written down its port."""
        path = os.path.join(self.profile.name, "DevToolsActivePort")
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            assert self.process.poll() is None, f"chromium ended with {self.process.returncode}"
            try:
                with open(path, encoding="ascii") as file:
                    port = int(file.readline())
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=SECONDS) as reply:
                    pages = [target for target in json.load(reply) if target["type"] == "page"]
                if pages:
                    return pages[0]["webSocketDebuggerUrl"]
            except (OSError, ValueError):
                pass
            time.sleep(0.05)
        raise AssertionError("chromium opened no page")

    def close(self):
        self.socket.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def _take(self):
        """Reads one message: an answer is returned, an event is noted."""
        message = json.loads(self.socket.recv())
        if "id" in message:
            return message
        method, facts = message["method"], message["params"]
        if method == "Runtime.exceptionThrown":
            details = facts["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning", "assert"):
            self.errors.append(str([argument.get("value") for argument in facts["args"]]))
        elif method == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
            self.errors.append(facts["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(facts["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loads += 1
        return None

    def call(self, method, **arguments):
        self.next_id += 1
        self.socket.send(json.dumps({"id": self.next_id, "method": method, "params": arguments}))
        while True:
            answer = self._take()
            if answer and answer["id"] == self.next_id:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def open(self, path):
        before = self.loads
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while self.loads == before:
            self._take()

    def value(self, expression):
        """Of a JavaScript expression, as JSON; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, (expression, result)
        return result["result"].get("value")

    def until(self, condition):
        """Takes the page's events until the condition holds, or for so many seconds; whether it does."""
        end = time.monotonic() + SECONDS
        while not (holds := condition()) and time.monotonic() < end:
            self.value("new Promise(done => setTimeout(done, 20))")
        return holds

    def press(self, key):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode={"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowDown": 40}[key])

    def screenshot(self, path, width, height, dark=False, phone=False, whole=False):
        self.look(width, height, dark, phone)
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))

    def look(self, width, height, dark=False, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", media="",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
