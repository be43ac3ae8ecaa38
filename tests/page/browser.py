"""A headless Chromium, driven over its debugging pipe with the standard library alone."""

import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "--no-first-run",
]

DRAWN = "document.documentElement?.dataset.ready === 'yes'"


def executable() -> str | None:
    """Return the path of a Chromium or Chrome, if one is installed."""
    return next((path for path in map(shutil.which, (os.environ.get("CHROMIUM", ""), *NAMES)) if path), None)


class Page:
    """One tab: commands go out and answers come back as JSON, each ended by a zero byte."""

    def __init__(self, write: int, read: int):
        self.write, self.read = write, read
        self.buffer, self.numbers, self.session = b"", itertools.count(1), None
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params) -> dict:
        """Send a command and wait for its answer; events that come before it are noted."""
        number = next(self.numbers)
        session = {"sessionId": self.session} if self.session else {}
        os.write(self.write, json.dumps({"id": number, "method": method, "params": params} | session).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._note(message)

    def _receive(self) -> dict:
        while b"\0" not in self.buffer:
            part = os.read(self.read, 1 << 20)
            if not part:
                raise RuntimeError("the browser has gone")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def _note(self, message: dict) -> None:
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(part.get("value", part.get("description"))) for part in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def resize(self, width: int, height: int, dark: bool = False) -> None:
        """Set the size of the window and the theme that the reader prefers."""
        mobile = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[theme])

    def open(self, path: Path, patience: float = 30) -> float:
        """Open one of our own pages and wait until all is drawn; return the seconds that took."""
        self.call("Page.navigate", url="about:blank")
        begin = time.perf_counter()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while time.perf_counter() - begin < patience:
            if self.ask(f"({DRAWN}) && document.readyState === 'complete'"):
                # Charts are drawn as soon as they have a width, at the latest in the next frame.
                self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
                return time.perf_counter() - begin
            time.sleep(0.02)
        raise RuntimeError(f"{path}: not drawn within {patience:.0f} s; {self.errors}")

    def ask(self, expression: str):
        """Evaluate an expression in the page and return its value."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description", expression))
        return found["result"].get("value")


@contextmanager
def browser() -> Iterator[Page]:
    """Start a browser with a profile of its own, hand out a tab, and end both."""
    to_browser, from_us = os.pipe()
    to_us, from_browser = os.pipe()

    def wire() -> None:  # the browser reads descriptor 3 and writes descriptor 4
        read, write = os.dup(to_browser), os.dup(from_browser)
        os.dup2(read, 3)
        os.dup2(write, 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [executable(), *OPTIONS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            command, preexec_fn=wire, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Page(from_us, to_us)
        finally:
            process.terminate()
            process.wait(timeout=20)
            os.close(from_us)
            os.close(to_us)
