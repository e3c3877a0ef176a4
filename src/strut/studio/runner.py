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
from strut.studio.tasks import END_FILE


def main(place: Path, words: list[str]) -> int:
    """Run a command as `python -m strut` does, and write its exit code beside what it wrote; of a job that
    writes its file alone, write the page, too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    put(place / "pid", str(os.getpid()))
    code = 1
    try:
        code = _run(words)
        job = next(place.glob("*.db"), None)
        if job is not None:
            _run(["view", str(job), f"--output={place / 'index.html'}", "--no-open"])
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
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
