"""The process of a task: runs a command of strut, and writes how it ended. Called by `Tasks`:
python -m strut.studio.runner FOLDER WORD..."""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import time as clock
from pathlib import Path

from strut.files import put
from strut.studio.tasks import CANCEL_FILE, DESIGN_FILE, END_FILE, INTERRUPTED_EXIT


def main(place: Path, words: list[str]) -> int:
    """Run a command as `python -m strut` does, and write its exit code beside what it wrote; of a job,
    and of a design that was cancelled, which write their files alone, write the page, too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    put(place / "pid", str(os.getpid()))
    code = INTERRUPTED_EXIT
    try:
        if (place / CANCEL_FILE).exists():  # asked before there was a process to tell
            return code
        code = _run(words)
        page = place / "index.html"
        results = next((path for path in (*place.glob("*.db"), place / DESIGN_FILE) if path.is_file()), None)
        if results is not None and not page.exists():
            if results.name == DESIGN_FILE:  # who cancels does not wait for the compiler of a live page
                os.environ["STRUT_LIVE"] = "off"
            _run(["view", str(results), f"--output={page}", "--no-open"])
    finally:
        put(place / END_FILE, json.dumps({"code": code, "ended": clock.time()}))
    return code


def _run(words: list[str]) -> int:
    sys.argv = ["strut", *words]
    try:
        runpy.run_module("strut", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED_EXIT
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
