"""Damaged models are refused or read; they never crash, hang, start a program or write a file.

A few hundred in every run of the tests; ten thousand take a minute: STRUT_FUZZ=10000 python -m pytest tests/network/test_fuzz.py
"""

import os
import random
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from strut import network
from strut.errors import StrutError
from tests.network.test_language import EDGES, FUNCTIONS, GENERATORS

COUNT = int(os.environ.get("STRUT_FUZZ", "300"))
PATIENCE = 10  # [s] for one model
PIECES = [
    '"', "{", "}", "@", "$(", "$$(", ")", "[", "]", "|", "||", "'", "=", "+=", "<=", "@0", "@@1", "{1:3}", "{9*", "node", "edge", "state", "event",
    "when", "templates", "include", "parse", "import", "delete", "apply", ":", "<", ",", "\\", "1e9", "-", "t", ".", "&&", "∂[", "dt[", "delayed[",
    "rand()", "inv(", "^", "/", "(x+)+", "\0", "ẍ", "²", "$(1/0)", "recurse(", "self", "bidirectional", '"__import__(\'os\').system(\'false\')"',
]  # fmt: skip
FORBIDDEN = {
    "os.system",
    "subprocess.Popen",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "socket.connect",
    "os.remove",
    "shutil.rmtree",
}
_watching: list[str] | None = None
_hooked = False


def _hook(event, arguments):
    if _watching is not None and (
        event in FORBIDDEN or (event == "open" and str(arguments[1] or "r")[0] in "wax+")
    ):
        _watching.append(f"{event} {arguments}")


@contextmanager
def watched():
    """What is done, other than to read."""
    global _watching, _hooked
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked = True
    _watching = done = []
    try:
        yield done
    finally:
        _watching = None


@contextmanager
def limited(seconds):
    def stop(*_):
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def originals():
    examples = sorted((Path(__file__).parents[2] / "examples" / "network").glob("*.cdn"))
    return [GENERATORS, EDGES, FUNCTIONS, *(path.read_text(encoding="utf-8") for path in examples)]


def damaged(texts, chance):
    text = chance.choice(texts)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(text) + 1)
        kind = chance.random()
        if kind < 0.5:
            new = chance.choice(PIECES)
        elif kind < 0.6:
            new = ""
        elif kind < 0.75:
            new = text[at : at + 9] * 2
        elif kind < 0.9:
            other = chance.choice(texts)
            begin = chance.randrange(len(other))
            new = other[begin : begin + chance.randint(1, 60)]
        else:
            new = chr(chance.randrange(32, 0x3000))
        text = text[:at] + new + text[at + chance.randint(0, 8) :]
    return text


def attack(count, seed):
    """How many of `count` damaged models could still be read."""
    texts, chance, read = originals(), random.Random(seed), 0
    with watched() as done:
        for k in range(count):
            text = damaged(texts, chance)
            try:
                with limited(PATIENCE):
                    network.loads(text).system()
                read += 1
            except StrutError:
                continue
            except BaseException as error:
                raise AssertionError(
                    f"model {k} of seed {seed}: {type(error).__name__}: {error}\n{text}"
                ) from error
    assert done == []
    return read


@pytest.mark.parametrize("seed", range(2026, 2026 + COUNT // 150))
def test_damaged_models_are_refused_or_read(seed):
    assert 5 < attack(150, seed) < 140
