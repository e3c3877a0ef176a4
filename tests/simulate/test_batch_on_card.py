"""Batches on a graphics card: the kernel's own text, compiled for the processor, against ordinary runs; and what is
said where there is no card."""

import numpy as np
import pytest

import strut
from strut import Delay, Discrete, Random, Sample, State, System, contact, walkers
from strut.codegen import build_device_library, compiler, find_nvcc, lower_system
from strut.codegen.cuda import Card, DeviceLibrary
from strut.errors import DeviceError, ModelError
from strut.simulate import batch_on_card
from tests.contact.machines import box

ROUNDING = 1e-12  # the same operations in the same order, by another compiler's front end

needs_compiler = pytest.mark.skipif(compiler() is None, reason="there is no C compiler")


@pytest.fixture
def emulated(monkeypatch):
    """Let device='cuda' run the kernel's text on the processor, thread by thread."""
    monkeypatch.setattr(batch_on_card, "find_capability", lambda: 0)
    monkeypatch.setattr(batch_on_card, "find_nvcc", lambda: ("none",))
    monkeypatch.setattr(
        batch_on_card,
        "build_device_library",
        lambda low, method, precision, capability, *, ledger: build_device_library(
            low, method, precision, None, ledger=ledger
        ),
    )


def assert_same(one, other, tolerance):
    assert one.status.tolist() == other.status.tolist()
    np.testing.assert_array_equal(one.steps, other.steps)
    for name, counts in one.counts.items():
        np.testing.assert_array_equal(counts, other.counts[name], err_msg=name)
    np.testing.assert_allclose(other.x, one.x, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(other.z, one.z, rtol=tolerance, atol=tolerance)
    for name, values in one.outputs.items():
        np.testing.assert_allclose(other.outputs[name], values, rtol=tolerance, atol=tolerance, err_msg=name)


@needs_compiler
@pytest.mark.parametrize("method", [{"method": "rk4", "step": 1e-3}, {"method": "dop853"}])
def test_walkers_with_events_are_those_of_the_processor(emulated, method):
    walker = walkers.compass()
    rates = np.linspace(-1.4, -0.8, 9)
    asked = {"x0": {"stance_rate": rates}, "outputs": ["com_x"], "at": [0.3, 1.0], "ledger": True, **method}
    here, there = (strut.simulate_batch(walker, 4.0, device=device, **asked) for device in ("cpu", "cuda"))
    assert here.device == "cpu"
    assert there.device == "this processor, thread by thread"
    assert len(set(here.status)) > 1  # some fall
    assert_same(here, there, ROUNDING)
    for group in ("supplied", "dissipated", "lost"):
        for name, values in getattr(here, group).items():
            np.testing.assert_allclose(getattr(there, group)[name], values, rtol=1e-9, atol=1e-9)


@needs_compiler
def test_single_precision_is_near(emulated):
    machine, feet = box(height=0.2)
    system = contact.compliant(machine, feet, law=contact.hunt_crossley(1e5, 0.3), events=False)
    pitch = np.linspace(-0.3, 0.3, 5)
    asked = {"x0": {"base.pitch": pitch}, "method": "rk4", "step": 1e-4}
    exact = strut.simulate_batch(system, 0.2, **asked)
    single = strut.simulate_batch(system, 0.2, device="cuda", precision="single", **asked)
    assert single.ok.all()
    difference = np.abs(single["base.pitch"] - exact["base.pitch"]).max()
    assert 0 < difference < 1e-4  # 24 bits, 2000 steps


@needs_compiler
def test_a_population_larger_than_memory_goes_in_several_launches(emulated, monkeypatch):
    launches = []
    do_runs = DeviceLibrary.do_runs

    def noted(self, options, many, begin, end, card):
        launches.append((begin, end))
        do_runs(self, options, many, begin, end, card)

    facts = {"multiprocessors": 1, "capability": 0, "blocks": 1, "registers": 0, "local": 0}
    small = Card("a small card", free=12_000, memory=12_000, **facts)
    monkeypatch.setattr(DeviceLibrary, "do_runs", noted)
    monkeypatch.setattr(DeviceLibrary, "card", lambda self: small)
    system, angles = walkers.pendulum(), np.linspace(0.1, 2.0, 200)
    told = []
    there = strut.simulate_batch(system, 1.0, x0={"angle": angles}, device="cuda", progress=told.append)
    here = strut.simulate_batch(system, 1.0, x0={"angle": angles})
    assert len(launches) > 1
    assert [begin for begin, _ in launches[1:]] == [end for _, end in launches[:-1]]
    assert told[-1] == 1
    assert_same(here, there, ROUNDING)


@needs_compiler
def test_a_card_that_fails_under_way_loses_nothing(emulated, monkeypatch):
    do_runs = DeviceLibrary.do_runs

    def failing(self, options, many, begin, end, card):
        if begin > 0:
            raise DeviceError("the card failed: unspecified launch failure")
        do_runs(self, options, many, begin, end, card)

    monkeypatch.setattr(DeviceLibrary, "do_runs", failing)
    monkeypatch.setattr(DeviceLibrary, "runs_per_launch", lambda self, many, card, runs: 3)
    system, angles = walkers.pendulum(), np.linspace(0.1, 2.0, 8)
    with pytest.warns(RuntimeWarning, match="unspecified launch failure: the batch goes on on the processor"):
        batch = strut.simulate_batch(system, 1.0, x0={"angle": angles}, device="cuda")
    assert batch.device == "this processor, thread by thread, cpu"
    assert_same(strut.simulate_batch(system, 1.0, x0={"angle": angles}), batch, ROUNDING)


@needs_compiler
def test_random_numbers_are_those_of_the_run(emulated):
    x, z, noise = State("x", 0.0), Discrete("z", 0.0), Random("noise", law="normal")
    draw = Sample("draw", every=0.1, set={z: noise})
    system = System("drawn", x=[x], z=[z], randoms=[noise], flow={x: z}, samples=[draw])
    here, there = (
        strut.simulate_batch(system, 1.0, x0={"x": np.zeros(6)}, seed=3, device=device)
        for device in ("cpu", "cuda")
    )
    assert len(set(here["x"])) == 6
    np.testing.assert_allclose(there["x"], here["x"], rtol=ROUNDING)


def test_without_a_card_it_says_so_and_runs_here(monkeypatch):
    monkeypatch.setattr(batch_on_card, "find_capability", lambda: None)
    with pytest.warns(
        RuntimeWarning, match="no graphics card with CUDA answers: the batch goes on on the processor"
    ):
        batch = strut.simulate_batch(walkers.pendulum(), 1.0, device="cuda")
    assert batch.ok.all()
    assert batch.device == "cpu"


def test_without_a_compiler_it_says_so_and_runs_here(monkeypatch):
    monkeypatch.setattr(batch_on_card, "find_capability", lambda: 90)
    monkeypatch.setattr(batch_on_card, "find_nvcc", lambda: None)
    with pytest.warns(RuntimeWarning, match="no CUDA compiler, nvcc, found: the batch goes on"):
        assert strut.simulate_batch(walkers.pendulum(), 1.0, device="cuda").ok.all()


def test_a_system_with_delays_is_refused():
    x = State("x", 1.0)
    past = Delay("past", signal=x, by=1.0, before=1.0)
    system = System("lag", x=[x], delays=[past], flow={x: -past})
    with pytest.raises(DeviceError, match="system 'lag' has delays, .*: use device='cpu'"):
        strut.simulate_batch(system, 1.0, device="cuda")


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ({"device": "gpu"}, ModelError, "device 'gpu' is unknown: .*known: cpu, cuda"),
        ({"device": "cuda", "precision": "half"}, ModelError, "precision 'half' is unknown"),
        (
            {"precision": "single"},
            ModelError,
            "precision 'single' is for graphics cards and lanes: say device='cuda'",
        ),
        (
            {"device": "cuda", "backend": "native"},
            ModelError,
            "backend 'native' is a way to run on the processor",
        ),
        ({"device": "cuda", "method": "radau"}, DeviceError, "method 'radau' solves equations in every step"),
    ],
)
def test_mistakes_are_told(wrong, error, text):
    with pytest.raises(error, match=text):
        strut.simulate_batch(walkers.pendulum(), 1.0, **wrong)


@pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")
def test_the_kernel_compiles_for_a_card():
    """A card is not needed for that; compute capability 9.0 is that of a Hopper card."""
    library = DeviceLibrary(build_device_library(lower_system(walkers.bouncing_ball()), "rk4", capability=90))
    assert library.library.strut_cuda_batch
