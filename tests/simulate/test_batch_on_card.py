"""Batches on a graphics card: the kernel's own text, compiled for the processor, against ordinary runs; and what is
said where there is no card."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import strut
from strut import Delay, Discrete, Random, Sample, State, System, contact, walkers
from strut.codegen import (
    CudaCompiler,
    DeviceLibrary,
    build_device_library,
    cuda_driver,
    find_cuda_compiler,
    lower_system,
)
from strut.codegen.nvrtc import find_nvrtc
from strut.errors import DeviceError, ModelError, UnknownNameError
from strut.simulate import batch_on_card
from strut.simulate.batch_order import neighbours_together
from strut.simulate.batch_task import BatchTask, result_arrays
from strut.simulate.options import chosen_options
from strut.system import start
from tests.contact.machines import box

ROUNDING = 1e-11  # the same operations in another order, and products with inverses in the place of quotients
ADAPTED = 1e-7  # what rounding makes of adaptive steps at 1e-10, until a walker that falls has fallen


def assert_same(one, other, tolerance):
    assert one.status.tolist() == other.status.tolist()
    if tolerance == ROUNDING:
        np.testing.assert_array_equal(one.steps, other.steps)
    for name, counts in one.counts.items():
        np.testing.assert_array_equal(counts, other.counts[name], err_msg=name)
    np.testing.assert_allclose(other.x, one.x, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(other.z, one.z, rtol=tolerance, atol=tolerance)
    for name, values in one.outputs.items():
        np.testing.assert_allclose(other.outputs[name], values, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize(
    ("method", "tolerance"), [({"method": "rk4", "step": 1e-3}, ROUNDING), ({"method": "dop853"}, ADAPTED)]
)
def test_walkers_with_events_are_those_of_the_processor(fake_driver, method, tolerance):
    walker = walkers.compass()
    rates = np.linspace(-1.4, -0.8, 9)
    asked = {"x0": {"stance_rate": rates}, "outputs": ["com_x"], "at": [0.3, 1.0], "ledger": True, **method}
    here, there = (strut.simulate_batch(walker, 4.0, device=device, **asked) for device in ("cpu", "cuda"))
    assert here.device == "cpu"
    assert there.device == "a card that is none"
    assert len(set(here.status)) > 1  # some fall
    assert_same(here, there, tolerance)
    for group in ("supplied", "dissipated", "lost"):
        for name, values in getattr(here, group).items():
            np.testing.assert_allclose(
                getattr(there, group)[name], values, rtol=100 * tolerance, atol=100 * tolerance
            )


@pytest.mark.parametrize(
    ("runs", "shape"),
    [(1, (1, 32)), (3600, (113, 32)), (132 * 64, (264, 32)), (132 * 64 + 1, (133, 64)), (10**6, (528, 64))],
)
def test_few_runs_are_spread_over_all_multiprocessors(runs, shape):
    card = SimpleNamespace(multiprocessors=132)
    library = SimpleNamespace(card=card, crew=1, blocks=4, runs_per_block=64, threads=64)
    assert DeviceLibrary.launch_shape(library, runs) == shape
    crews = SimpleNamespace(card=card, crew=4, blocks=1, runs_per_block=64, threads=256)
    assert DeviceLibrary.launch_shape(crews, runs) == (min(132, -(-runs // 64)), 256)


def test_single_precision_is_near(fake_driver):
    machine, feet = box(height=0.2)
    system = contact.compliant(machine, feet, law=contact.hunt_crossley(1e5, 0.3), events=False)
    pitch = np.linspace(-0.3, 0.3, 5)
    asked = {"x0": {"base.pitch": pitch}, "method": "rk4", "step": 1e-4}
    exact = strut.simulate_batch(system, 0.2, **asked)
    single = strut.simulate_batch(system, 0.2, device="cuda", precision="single", **asked)
    assert single.ok.all()
    difference = np.abs(single["base.pitch"] - exact["base.pitch"]).max()
    assert 0 < difference < 1e-4  # 24 bits, 2000 steps


def test_a_population_larger_than_memory_goes_in_several_launches(fake_driver):
    fake_driver.told = 12_000
    system, angles = walkers.pendulum(), np.linspace(0.1, 2.0, 200)
    told = []
    there = strut.simulate_batch(system, 1.0, x0={"angle": angles}, device="cuda", progress=told.append)
    assert fake_driver.launches > 1
    assert len(told) == fake_driver.launches
    assert told[-1] == 1
    assert fake_driver.held == 0
    assert there.device == "a card that is none"
    assert_same(strut.simulate_batch(system, 1.0, x0={"angle": angles}), there, ROUNDING)


def test_threads_share_a_card_and_what_is_loaded_there(fake_driver):
    """Batches of several threads go side by side, each with its own memory; kernels are loaded once."""
    system, begins = walkers.pendulum(), [np.linspace(0.1 * k, 2.0, 40) for k in range(1, 7)]
    strut.simulate_batch(system, 1.0, x0={"angle": begins[0]}, device="cuda")
    assert fake_driver.loads == 1

    def run(angles):
        return strut.simulate_batch(system, 1.0, x0={"angle": angles}, device="cuda")

    with ThreadPoolExecutor(6) as threads:
        batches = list(threads.map(run, begins))
    assert fake_driver.loads == 1
    assert fake_driver.held == 0
    for angles, there in zip(begins, batches, strict=True):
        assert there.device == "a card that is none"
        assert_same(strut.simulate_batch(system, 1.0, x0={"angle": angles}), there, ROUNDING)


def test_memory_that_others_took_makes_launches_smaller(fake_driver):
    """The card tells more free memory than it gives."""
    fake_driver.memory = 20_000
    system, angles = walkers.pendulum(), np.linspace(0.1, 2.0, 300)
    there = strut.simulate_batch(system, 1.0, x0={"angle": angles}, device="cuda")
    assert fake_driver.launches > 1
    assert there.device == "a card that is none"
    assert_same(strut.simulate_batch(system, 1.0, x0={"angle": angles}), there, ROUNDING)


def test_a_card_without_memory_for_one_run_says_so(fake_driver):
    fake_driver.told = 100
    text = "one run takes .* MiB of memory, and a card that is none has .* MiB free: .* fewer times"
    with pytest.warns(RuntimeWarning, match=text):
        batch = strut.simulate_batch(walkers.pendulum(), 1.0, device="cuda")
    assert batch.device == "cpu"
    assert batch.ok.all()


@pytest.mark.parametrize("lost_at", [0, 1])
def test_a_card_that_is_taken_away_under_way_loses_nothing(fake_driver, lost_at):
    fake_driver.told, fake_driver.launch = 12_000, lost_at
    system, angles = walkers.pendulum(), np.linspace(0.1, 2.0, 200)
    text = (
        r"a card that is none failed on runs \d+ to \d+ \(unspecified launch failure, error 719 of "
        r"cuLaunchKernel; \d+ of 200 runs are left\): the batch goes on on the processor"
    )
    with pytest.warns(RuntimeWarning, match=text):
        batch = strut.simulate_batch(system, 1.0, x0={"angle": angles}, device="cuda")
    assert batch.device == ("a card that is none, cpu" if lost_at else "cpu")
    assert fake_driver.held == 0
    assert_same(strut.simulate_batch(system, 1.0, x0={"angle": angles}), batch, ROUNDING)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (
            {"load": 222, "version": 12040},
            "the driver of a card that is none knows CUDA 12.4, and does not take what the compiler made "
            ".*unsupported toolchain.*: install a newer driver, or a compiler that is not newer",
        ),
        ({"init": 803}, "the driver of the graphics card is too old, or not the one that is running"),
        ({"init": 100}, "no graphics card with CUDA answers"),
    ],
)
def test_a_driver_that_does_not_fit_is_told(fake_driver, setting, text):
    for name, value in setting.items():
        setattr(fake_driver, name, value)
    with pytest.warns(RuntimeWarning, match=f"{text}.*: the batch goes on on the processor"):
        batch = strut.simulate_batch(walkers.pendulum(), 1.0, device="cuda")
    assert batch.device == "cpu"
    assert batch.ok.all()


def test_a_driver_without_a_function_is_too_old(fake_driver, monkeypatch):
    monkeypatch.setitem(cuda_driver.FUNCTIONS, "cuNewest", ())
    with pytest.warns(RuntimeWarning, match="too old: it has no cuNewest; install a newer one"):
        assert strut.simulate_batch(walkers.pendulum(), 1.0, device="cuda").ok.all()


def test_a_population_is_summed_up_on_the_card(fake_driver):
    """Nothing of the population's size comes back, and the numbers are those of all runs here."""
    fake_driver.told = 15_000
    walker, rates = walkers.compass(), np.linspace(-1.4, -0.8, 100)
    asked = {"x0": {"stance_rate": rates}}
    there = strut.summarise_batch(walker, 3.0, measures=["com_x", "com_z"], device="cuda", **asked)
    assert fake_driver.launches > 2  # of runs and of sums
    runs = strut.simulate_batch(walker, 3.0, outputs=["com_x", "com_z"], **asked)
    assert there.device == "a card that is none"
    assert there.runs == 100
    kinds, counts = np.unique(runs.status.astype(str), return_counts=True)
    assert dict(there.endings) == dict(zip(kinds, counts, strict=True))
    good = np.flatnonzero(runs.ok)
    assert 1 < len(good) < 100
    for name in ("com_x", "com_z"):
        values, told = runs[name][good], there[name]
        assert told.count == len(good)
        assert told.mean == pytest.approx(values.mean(), rel=1e-9)
        assert told.deviation == pytest.approx(values.std(ddof=1), rel=1e-9)
        assert (told.least_run, told.most_run) == (good[values.argmin()], good[values.argmax()])
        assert told.least == pytest.approx(values.min(), rel=1e-9)
        assert told.most == pytest.approx(values.max(), rel=1e-9)


def test_a_summary_is_the_same_where_the_card_fails(fake_driver):
    walker, rates = walkers.compass(), np.linspace(-1.4, -0.8, 100)
    asked = {"x0": {"stance_rate": rates}, "measures": ["com_x"]}
    here = strut.summarise_batch(walker, 3.0, **asked)
    fake_driver.told, fake_driver.launch = 15_000, 2
    with pytest.warns(RuntimeWarning, match="failed on runs .* of 100 runs are left"):
        mixed = strut.summarise_batch(walker, 3.0, device="cuda", **asked)
    assert mixed.device == "a card that is none, cpu"
    assert dict(mixed.endings) == dict(here.endings)
    assert mixed["com_x"].least_run == here["com_x"].least_run
    assert mixed["com_x"].mean == pytest.approx(here["com_x"].mean, rel=1e-9)
    with pytest.raises(UnknownNameError, match="'com_y' is no measure"):
        mixed["com_y"]


def test_random_numbers_are_those_of_the_run(fake_driver):
    x, z, noise = State("x", 0.0), Discrete("z", 0.0), Random("noise", law="normal")
    draw = Sample("draw", every=0.1, set={z: noise})
    system = System("drawn", x=[x], z=[z], randoms=[noise], flow={x: z}, samples=[draw])
    here, there = (
        strut.simulate_batch(system, 1.0, x0={"x": np.zeros(6)}, seed=3, device=device)
        for device in ("cpu", "cuda")
    )
    assert len(set(here["x"])) == 6
    np.testing.assert_allclose(there["x"], here["x"], rtol=ROUNDING)


def test_without_a_driver_it_says_so_and_runs_here(monkeypatch):
    monkeypatch.setattr(cuda_driver, "DRIVER_LIBRARY", "libnothing.so")
    with pytest.warns(
        RuntimeWarning,
        match=r"no graphics card with CUDA answers \(there is no driver, libnothing.so\): the batch goes on",
    ):
        batch = strut.simulate_batch(walkers.pendulum(), 1.0, device="cuda")
    assert batch.ok.all()
    assert batch.device == "cpu"


def test_without_a_compiler_it_says_so_and_runs_here(fake_driver, fresh_cache, monkeypatch):
    monkeypatch.setattr(batch_on_card, "find_cuda_compiler", lambda cuda: None)
    with pytest.warns(RuntimeWarning, match=r"no CUDA compiler found .*strut\[cuda\].*: the batch goes on"):
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


def compilers():
    """Every compiler for cards that is here."""
    found, library = find_cuda_compiler(), find_nvrtc()
    both = [found if found and found.kind == "nvcc" else None, library and CudaCompiler("nvrtc", library)]
    return [pytest.param(each, id=each.kind) for each in both if each] or [
        pytest.param(None, marks=pytest.mark.skip(reason="there is neither nvcc nor NVRTC"))
    ]


@pytest.mark.parametrize("chosen", compilers())
@pytest.mark.parametrize("precision", ["double", "single"])
def test_the_kernel_compiles_for_a_card(chosen, precision):
    """A card is not needed for that; compute capability 9.0 is that of a Hopper card."""
    low = lower_system(walkers.bouncing_ball())
    path = build_device_library(low, "rk4", precision, capability=90, chosen=chosen)
    code = path.read_bytes()
    assert code.startswith(b"\x7fELF")
    assert b"strut_do_runs" in code
    assert b"strut_summarise" in code


def task_of(angles, lengths):
    """A batch of pendulums, as it is handed to a card."""
    system, runs = walkers.pendulum(), len(angles)
    values = start(system, {"angle": angles}, None, None, {"length": lengths}, runs=runs)
    chosen = chosen_options({"ledger": False})
    room = result_arrays(lower_system(system).sizes, runs, 1, 0, False)
    return BatchTask(
        options=chosen,
        values=values,
        begin=0.0,
        stops=np.array([1.0]),
        columns=np.zeros(0, dtype=np.int32),
        room=room,
        seed=0,
        at_end=True,
    )


def test_runs_that_begin_alike_are_done_together():
    """Of a grid that was shuffled neighbours are brought together; a grid stays as it is."""
    angle, length = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, 64), np.linspace(1, 2, 64)))
    shuffled = np.random.default_rng(1).permutation(len(angle))
    task = task_of(angle[shuffled], length[shuffled])
    order = neighbours_together(task, 0, len(angle))
    assert sorted(order) == list(range(len(angle)))

    def spread(numbers):
        """How far apart the angles of 32 that follow each other are."""
        return np.ptp(angle[shuffled][numbers].reshape(-1, 32), axis=1).mean()

    assert spread(order) < 0.2 * spread(np.arange(len(angle)))
    assert neighbours_together(task_of(angle, length), 0, len(angle)) is None
    assert neighbours_together(task_of(np.full(100, 0.3), np.full(100, 1.0)), 0, 100) is None


def test_an_order_changes_no_result(fake_driver):
    system, angles = walkers.pendulum(), np.random.default_rng(2).permutation(np.linspace(0.1, 2.0, 500))
    there = strut.simulate_batch(system, 1.0, x0={"angle": angles}, device="cuda")
    assert_same(strut.simulate_batch(system, 1.0, x0={"angle": angles}), there, ROUNDING)


def test_an_interrupt_keeps_what_is_done(fake_driver, monkeypatch):
    """Between launches; runs that were not done say so."""
    monkeypatch.setattr(batch_on_card, "FIRST_LAUNCH_WAVES", 1)

    def stop(fraction):
        raise KeyboardInterrupt

    system, angles = walkers.pendulum(), np.linspace(0.1, 2.0, 300)
    there = strut.simulate_batch(system, 1.0, x0={"angle": angles}, device="cuda", progress=stop)
    assert there.interrupted
    assert (there.status == "done").sum() == 64
    assert (there.status == "not run").sum() == 236
    here = strut.simulate_batch(system, 1.0, x0={"angle": angles})
    np.testing.assert_allclose(there.x[:64], here.x[:64], rtol=ROUNDING)
    assert not there.x[64:].any()
