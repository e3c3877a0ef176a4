"""A real browser for tests: Chromium without a window, driven through a pipe by its DevTools protocol. Needs nothing installed in Python."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--remote-debugging-pipe", "--hide-scrollbars"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"),  # WebGL without a graphics card
    *("--disable-background-networking", "--no-first-run", "--no-default-browser-check", "--disable-extensions"),
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def found():
    """Where a browser is, or nothing."""
    return os.environ.get("STRUT_BROWSER") or next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page at a time: `open`, `run` a script, `picture`; `errors` and `requests` collect what went wrong and what was asked for."""

    def __init__(self, profile, width=1000, height=640, dark=False, webgl=True):
        to_read, self.to = os.pipe()
        self.at, to_write = os.pipe()

        def hand_over():  # the protocol speaks through file descriptors 3 and 4
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        flags = [*FLAGS, f"--user-data-dir={profile}", *([] if webgl else ["--disable-3d-apis"])]
        self.process = subprocess.Popen(
            [found(), *flags], preexec_fn=hand_over, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(to_write)
        self.number, self.buffer, self.errors, self.requests = 0, b"", [], []
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.send("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.resize(width, height)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def resize(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, path):
        self.errors.clear()
        self.requests.clear()
        self.loaded = False
        self.send("Page.navigate", url=path.resolve().as_uri())
        self._until(lambda: self.loaded)

    def run(self, script):
        """The value of an expression; of a promise, what it comes to."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self, path=None):
        data = base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            path.write_bytes(data)
        return data

    def drag(self, x, y, to_x, to_y):
        for kind, px, py in (("mousePressed", x, y), ("mouseMoved", to_x, to_y), ("mouseReleased", to_x, to_y)):
            self.send("Input.dispatchMouseEvent", type=kind, x=px, y=py, button="left", buttons=1, clickCount=1)

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.at)

    # ---- the protocol ----

    def send(self, method, **params):
        return self._send(method, self.session, **params)

    def _send(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self.to, json.dumps(message).encode() + b"\0")
        self.answer = None
        self._until(lambda: self.answer is not None)
        assert "error" not in self.answer, (method, self.answer["error"])
        return self.answer["result"]

    def _until(self, done, limit=60.0):
        end = time.monotonic() + limit
        while not done():
            ready, _, _ = select.select([self.at], [], [], max(0.0, end - time.monotonic()))
            read = os.read(self.at, 1 << 20) if ready else b""
            assert read, "the browser does not answer"
            self.buffer += read
            *messages, self.buffer = self.buffer.split(b"\0")
            for message in messages:
                self._heard(json.loads(message))

    def _heard(self, message):
        method, params = message.get("method"), message.get("params", {})
        if message.get("id") == self.number:
            self.answer = message
        elif method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(params["args"])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
