# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that a test talks to, by its debugging protocol over two pipes."""

import base64
import json
import os
import shutil
import subprocess


def find():
    """The browser, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page at a time. `console` has all that was written to its console, and what was thrown."""

    def __init__(self, profile):
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()

        def place():  # the browser reads from 3 and writes to 4
            os.dup2(to_read, 30)
            os.dup2(to_write, 31)
            os.dup2(30, 3)
            os.dup2(31, 4)

        self._process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={profile}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=place, close_fds=False)
        os.close(to_read)
        os.close(to_write)
        self._rest = b""
        self._number = 0
        self._session = None
        self.console = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()

    def _receive(self):
        while b"\0" not in self._rest:
            more = os.read(self._read, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(message)
        method, what = message.get("method"), message.get("params")
        if method == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(a.get("value", a)) for a in what["args"]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(what["exceptionDetails"])[:600])
        elif method == "Log.entryAdded":
            self.console.append(what["entry"]["text"])
        return message

    def _call(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def look(self, width, height, dark=False, mobile=False):
        """The size of the window and the colours that the user prefers."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                   deviceScaleFactor=2 if mobile else 1, mobile=mobile)
        self._call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def look_printed(self):
        self._call("Emulation.setEmulatedMedia", media="print", features=[])

    def open(self, path):
        self._call("Page.navigate", url=f"file://{path}")
        while self._receive().get("method") != "Page.loadEventFired":
            pass

    def say(self, script):
        """What a JavaScript expression, or the promise of one, comes to."""
        found = self._call("Runtime.evaluate", expression=script, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:600])
        return found["result"].get("value")

    def picture(self, path):
        data = self._call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
