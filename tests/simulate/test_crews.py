"""Crews of a graphics card, in which several warps do long functions together: run member by member on the
processor, against ordinary runs; and who does what."""

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Mechanism, joints, mechanism, walkers
from strut.codegen import (
    build_device_library,
    c,
    choose_crew,
    crew,
    crew_text,
    cuda,
    lower_system,
    translation_unit,
)
from strut.codegen.cuda_driver import Card
from strut.codegen.instructions import straight_line
from strut.codegen.lower import SIGNATURES
from strut.errors import ModelError
from tests.simulate.test_batch_on_card import ROUNDING, assert_same, compilers

LARGE_CARD = Card("a card", 132, 90, 13000, shared=232_448)


@pytest.fixture
def short_functions(monkeypatch, tmp_path):
    """Functions of few statements count as long, phases and pieces are short, and few numbers lie near."""
    monkeypatch.setenv("STRUT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(crew_text, "MIN_STATEMENTS", 20)
    monkeypatch.setattr(crew_text, "NEAR_NUMBERS", 70)
    monkeypatch.setattr(crew.share_out, "__defaults__", (24, 8))
    for module in (crew, crew_text):
        monkeypatch.setattr(module, "PIECE_PHASES", 2)


def flow_lines(system):
    """The assignments of a system's flow."""
    inputs, outputs = SIGNATURES["flow"]
    dialect = c.c_dialect(inputs, outputs)
    return straight_line(lower_system(system).functions["flow"], "flow", dialect, share_inverses=True)


def test_crews_do_what_the_processor_does(fake_driver, short_functions):
    """With events, after which resets follow, and some that end a run."""
    rates = np.linspace(-1.4, -0.8, 9)
    asked = {"x0": {"stance_rate": rates}, "outputs": ["com_x"], "at": [0.3, 1.0], "ledger": True}
    asked |= {"method": "rk4", "step": 1e-3}
    here = strut.simulate_batch(walkers.compass(), 4.0, **asked)
    there = strut.simulate_batch(walkers.compass(), 4.0, device="cuda", crew=4, **asked)
    assert there.device == "a card that is none, crews of 4"
    assert len(set(here.status)) > 1
    assert_same(here, there, ROUNDING)


def test_crews_do_smooth_runs(fake_driver, short_functions):
    angles = np.linspace(0.1, 2.0, 5)
    asked = {"x0": {"angle": angles}, "method": "rk4", "step": 1e-3}
    there = strut.simulate_batch(walkers.pendulum(), 1.0, device="cuda", crew=2, **asked)
    assert "crews of 2" in there.device
    assert_same(strut.simulate_batch(walkers.pendulum(), 1.0, **asked), there, ROUNDING)


def test_crews_of_a_system_with_many_parameters_have_one_warp_a_member(fake_driver, short_functions):
    """They fill what a block shares: half the runs have twice the room, and results are the same."""
    x = strut.State("x", 0.5)
    weights = [strut.Param(f"w{k}", 1e-3 * (k % 9)) for k in range(450)]
    flow = sum((weight.sym * ca.sin((k % 7 + 1) * x.sym) for k, weight in enumerate(weights)), -x.sym)
    system = strut.System("weighted", x=[x], p=weights, flow={x: flow})
    text = translation_unit.device_text(lower_system(system).without_account, "rk4", 4)
    assert "#define STRUT_GROUPS 1\n" in text
    assert "#define STRUT_GROUPS 2\n" in translation_unit.device_text(
        lower_system(walkers.pendulum()).without_account, "rk4", 4
    )
    asked = {"x0": {"x": np.linspace(0.1, 0.9, 70)}, "method": "rk4", "step": 1e-2}
    there = strut.simulate_batch(system, 0.5, device="cuda", crew=4, **asked)
    assert "crews of 4" in there.device
    assert_same(strut.simulate_batch(system, 0.5, **asked), there, ROUNDING)


@pytest.mark.parametrize("chosen", compilers())
def test_crews_compile_for_a_card(short_functions, monkeypatch, chosen):
    monkeypatch.setattr(crew_text, "MIN_STATEMENTS", 5)
    low = lower_system(walkers.pendulum())
    path = build_device_library(low, "rk4", capability=90, crew=4, chosen=chosen)
    assert b"strut_tell_crew" in path.read_bytes()


def test_nothing_is_read_before_all_have_met():
    """What another member reads was computed in an earlier phase, and its place is not used again before."""
    body = flow_lines(walkers.rabbit())
    for members in (2, 4):
        out = crew.share_out(body, members, 48, 16)
        assert sorted(line.target for phase in out.phases for part in phase for line in part) == sorted(
            line.target for line in body
        )
        places = crew.find_places(out, 40)
        assert max(places.near.values()) < 40
        assert places.far
        last = out.crossings()
        users = {}
        for s, phase in enumerate(out.phases):
            for member, part in enumerate(phase):
                known = set()
                for line in part:
                    for name in set(line.reads) & set(out.home):
                        begin, owner = out.home[name]
                        assert begin < s or (owner == member and name in known), name
                        assert name not in last or s <= last[name]
                    known.add(line.target)
        for name in last:
            users.setdefault(places.text(name), []).append((out.home[name][0], last[name]))
        for spans in users.values():
            spans.sort()
            assert all(one[1] < other[0] for one, other in pairwise(spans))


def test_work_is_shared_evenly():
    """Members do about as much as each other, and most of what they compute stays with them."""
    m = Mechanism("chain")
    parent = m.world
    for k in range(8):
        link = m.body(f"link{k}", mass=1.0, com=(0, 0, -0.1), inertia=0.01)
        m.joint(f"hinge{k}", parent, link, joints.revolute("xyz"[k % 3]), at=(0, 0, -0.2), initial=0.3)
        parent = link
    body = flow_lines(mechanism.system(m))
    out = crew.share_out(body, 4, 32, 8)
    work = [sum(crew.cost_of(line) for phase in out.phases for line in phase[m]) for m in range(4)]
    assert max(work) < 1.6 * min(work)
    assert len(out.crossings()) < 0.3 * len(body)


def test_large_machines_have_crews(monkeypatch):
    """Measured on a card: from some size on they are faster, where a block can share enough memory."""
    low = lower_system(walkers.rabbit())
    assert choose_crew(low, LARGE_CARD, "double") == 1
    monkeypatch.setattr(cuda, "MIN_CREW_INSTRUCTIONS", 400)
    assert choose_crew(low, LARGE_CARD, "double") == 4
    assert choose_crew(low, LARGE_CARD, "single") == 1
    small = Card("a card", 10, 75, 13000, shared=65_536)
    assert choose_crew(low, small, "double") == 1


def test_a_card_with_little_shared_memory_is_named(fake_driver, short_functions):
    fake_driver.shared = 1024
    asked = {"method": "rk4", "step": 1e-2, "x0": {"angle": [0.1]}}
    with pytest.warns(RuntimeWarning, match="has 1 KiB: use crew=1"):
        batch = strut.simulate_batch(walkers.pendulum(), 0.1, device="cuda", crew=2, **asked)
    assert batch.device == "cpu"


@pytest.mark.parametrize(
    ("crew_asked", "device", "text"),
    [(3, "cuda", "crew is 3: give 1, 2, 4, 8, or 'auto'"), (4, "cpu", "a crew is of a graphics card")],
)
def test_crews_that_there_are_not(crew_asked, device, text):
    with pytest.raises(ModelError, match=text):
        strut.simulate_batch(walkers.pendulum(), 0.1, device=device, crew=crew_asked)
