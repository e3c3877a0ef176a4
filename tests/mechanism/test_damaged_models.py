"""URDF and MJCF with random damage: whatever happens, it is read or refused by an error of our own, and soon."""

import re
import time
import warnings

import numpy as np
import pytest

from strut.errors import StrutError
from strut.mechanism import Tree, mjcf, urdf
from tests.mechanism.test_mjcf import CLOSED, PASSIVE, WITH
from tests.mechanism.test_mjcf_files import MESHED
from tests.mechanism.test_mjcf_forces import FIT
from tests.mechanism.test_urdf import HAND, ROBOT

LONGEST = 10.0
"""[s] for one file, on a busy machine; a tenth of a second is usual."""
WRONG = (
    *(
        "",
        " ",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "-1",
        "0",
        "0 0 0",
        "1 2 3 4 5 6 7 8",
        "abc",
        "true",
        "false",
        "auto",
        "world",
        "a",
        "h",
    ),
    *(
        "\u00e9\u4e2d",
        "../../x",
        "/dev/zero",
        "x" * 500,
        "1e308 1e308 1e308",
        "1e-320",
        "mesh",
        "ball",
        "free",
        "fixed",
        "continuous",
    ),
)
VALUE = re.compile(r'="[^"]*"')
ELEMENT = re.compile(r"<[^<>]*/>")
NAME = re.compile(r"[\w]+(?==\")|(?<=<)\w+")


def damaged(text, rng):
    """The text with up to three things wrong."""
    for _ in range(rng.integers(1, 4)):
        kind = rng.integers(6)
        spots = list((VALUE, VALUE, NAME, ELEMENT, ELEMENT, re.compile("."))[kind].finditer(text))
        if not spots:
            continue
        spot = spots[rng.integers(len(spots))]
        if kind < 2:
            new = f'="{WRONG[rng.integers(len(WRONG))]}"'
        elif kind == 2:
            new = spots[rng.integers(len(spots))].group()
        elif kind == 3:
            new = ""
        elif kind == 4:
            new = spot.group() + spots[rng.integers(len(spots))].group()
        else:
            new = chr(rng.integers(1, 128))
        text = text[: spot.start()] + new + text[spot.end() :]
    return text


def check_damaged(count, seed):
    """Read `count` damaged files; how many could be, and how long the slowest took [s]."""
    rng = np.random.default_rng(seed)
    closures = '<connect name="e" body1="b" body2="c" anchor="0 0 -0.4"/><tendon name="f" tendon1="two" tendon2="one" polycoef="0.1 2 0.5"/>'
    inline = MESHED.format(mesh='vertex="0 0 0 1 0 0 0 2 0 0 0 3"', geom="", compiler="")
    sources = [
        *(
            (mjcf.parse, text)
            for text in (*WITH.values(), *FIT.values(), PASSIVE, CLOSED.format(closures), inline)
        ),
        *(
            (urdf.parse, text)
            for text in (ROBOT, HAND.format("two"), ROBOT, HAND.format("wrist"))
            for _ in range(6)
        ),
    ]
    loaded, slowest = 0, 0.0
    for _ in range(count):
        read, text = sources[rng.integers(len(sources))]
        text = damaged(text, rng)
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                warnings.simplefilter("error", RuntimeWarning)
                Tree(read(text))
            loaded += 1
        except StrutError:
            pass
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{text}") from error
        slowest = max(slowest, time.perf_counter() - began)
    return loaded, slowest


@pytest.mark.parametrize("seed", range(3))
def test_damage_gives_no_raw_error(seed):
    loaded, slowest = check_damaged(150, seed)
    assert loaded > 15  # some damage does no harm, so the rest of the way is walked too
    assert slowest < LONGEST
