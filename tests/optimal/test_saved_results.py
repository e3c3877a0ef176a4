"""Results in files: they come back as they were, with their model, and what is not right is told."""

import math
import random
from dataclasses import replace

import casadi as ca
import h5py
import numpy as np
import pytest

from strut import gait, optimal, walkers
from strut.errors import ModelError, StorageError, ValueRangeError
from strut.simulate import archive_file
from strut.system import from_archive, room_classes, to_archive

SLOPE = math.radians(3)


@pytest.fixture(scope="module")
def compass():
    return walkers.compass(slope=SLOPE)


@pytest.fixture(scope="module")
def passive(compass):
    return gait.find(compass)


@pytest.fixture(scope="module")
def sprung(compass, passive):
    return optimal.design(
        compass, free={"hip_spring": (0, 100)}, cost="squared-torque", speed=0.8, guess=passive
    )


@pytest.fixture
def saved(passive, tmp_path):
    return passive.save(tmp_path / "gait.h5")


def content(system):
    """Everything that a system computes, as CasADi writes it."""
    expressions = [
        *[system.flow[q.name] for q in system.x],
        *[ca.SX(e) for event in system.events for e in (event.guard, *event.reset.values())],
        *[ca.SX(e) for e in system.outputs.values()],
        *system.scene.columns().values(),
    ]
    symbols = ca.symvar(ca.veccat(*expressions))
    return ca.Function("content", [ca.vertcat(*symbols)], expressions).serialize()


@pytest.mark.parametrize("name", walkers.CATALOGUE)
def test_every_ready_made_system_comes_back_from_an_archive(name):
    system = walkers.CATALOGUE[name]()
    classes = room_classes("system")
    archive = to_archive(system, system, classes)
    for model in (None, system):
        back, same = from_archive(archive, classes, model)
        assert back is same
        assert content(back) == content(system)
        assert [(q.name, q.unit, q.bounds) for q in back.quantities()] == [
            (q.name, q.unit, q.bounds) for q in system.quantities()
        ]
        assert (back.walk is None) == (system.walk is None)
        assert back.walk is None or [f.name for f in back.walk.feet] == [f.name for f in system.walk.feet]
    assert ca.is_equal(back.x[0].sym, system.x[0].sym)


def test_a_gait_comes_back(passive, saved):
    back = gait.load(saved)
    assert back.x0 == passive.x0
    assert back.multipliers.tolist() == passive.multipliers.tolist()
    assert back.multipliers.dtype == complex
    assert back.trajectory.raw.x_end.tolist() == passive.trajectory.raw.x_end.tolist()
    assert back.derivative("slope") == passive.derivative("slope")
    assert gait.Gait.load(saved).data() == passive.data()


def test_a_branch_comes_back(compass, passive, tmp_path):
    branch = gait.follow(compass, "slope", 0.055, start=passive)
    back = gait.load(branch.save(tmp_path / "branch.h5"))
    assert isinstance(back, gait.Branch)
    assert back.parameter.tolist() == branch.parameter.tolist()
    assert repr(back) == repr(branch)
    assert back.gait(0.053).period == pytest.approx(branch.gait(0.053).period, abs=1e-9)


def test_a_design_comes_back_and_is_replayed_and_begun_from(compass, sprung, tmp_path):
    file = sprung.save(tmp_path / "design.h5")
    for back in (optimal.load(file), optimal.load(file, compass), optimal.Design.load(file)):
        assert isinstance(back, optimal.Design)
        assert back.data() == sprung.data()  # the replay and its gait included: they are computed anew
        assert back.rows() == sprung.rows()
        assert back.limits.rows() == sprung.limits.rows()
    t = np.linspace(0, sprung.result.duration, 7)
    assert back.result.at(t)["stance"].tolist() == sprung.result.at(t)["stance"].tolist()
    # what is made of the file's symbols fits what it is given
    own = optimal.load(file, compass)
    more = own.result.problem.require("upright", compass["stance"], high=1.0)
    assert more.solve(own).ok
    faster = optimal.design(
        compass, free={"hip_spring": (0, 100)}, cost="squared-torque", speed=0.82, guess=optimal.load(file)
    )
    assert faster.ok


def test_a_solution_comes_back(compass, sprung, tmp_path):
    back = optimal.load(sprung.result.save(tmp_path / "solution.h5"), compass)
    assert isinstance(back, optimal.Solution)
    assert back.summary() == sprung.result.summary()
    assert back.problem.solve(back).cost == pytest.approx(sprung.result.cost, abs=1e-9)


def test_a_trade_off_comes_back_with_its_problem(compass, tmp_path):
    curve = optimal.trade_off(
        compass, "speed", [0.78, 0.8], {"hip_spring": (0, 100)}, cost={"squared-torque": 1, "energy": 1}
    )
    back = optimal.load(curve.save(tmp_path / "curve.h5"), compass)
    assert isinstance(back, optimal.TradeOff)
    assert back.rows() == curve.rows()
    assert back.data() == curve.data()
    one, other = back.design(0.8), curve.design(0.8)
    assert one.ok
    assert one.parameters == pytest.approx(other.parameters, abs=1e-6)


def test_another_model_is_refused_with_what_differs(compass, saved):
    with pytest.raises(
        StorageError, match="another model than the system 'simplest' given.*states stance, hip"
    ):
        gait.load(saved, walkers.simplest())
    heavier = compass.replace(flow={**compass.flow, "stance_rate": compass.flow["stance_rate"] * 1.01})
    with pytest.raises(StorageError, match="which differs in: the rate of 'stance_rate'. Load it without"):
        gait.load(saved, heavier)
    # other values are the same model: those of the file count
    assert gait.load(saved, compass.using(slope=0.01)).system.p[0].value == compass.p[0].value


def test_what_cannot_be_read_is_told(passive, sprung, saved, tmp_path):
    with pytest.raises(StorageError, match="there is no such file"):
        gait.load(tmp_path / "nothing.h5")
    with pytest.raises(
        StorageError,
        match="holds a Gait, not a Design or Solution or TradeOff or RobustDesign or DesignsByName: read it",
    ):
        optimal.load(saved)
    run = passive.trajectory.save(tmp_path / "run.h5")
    with pytest.raises(StorageError, match="is an HDF5 file but not a 'strut result 1'"):
        gait.load(run)
    (tmp_path / "text.h5").write_text("no HDF5")
    with pytest.raises(StorageError, match="damaged or not an HDF5 file"):
        gait.load(tmp_path / "text.h5")
    data = bytearray(saved.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "flipped.h5").write_bytes(data)
    with pytest.raises(StorageError, match="its checksum is not that of its content"):
        gait.load(tmp_path / "flipped.h5")
    with pytest.raises(StorageError, match="a result is saved as .h5"):
        passive.save(tmp_path / "gait.pickle")
    with pytest.raises(StorageError, match="does not exist; create it first"):
        passive.save(tmp_path / "nowhere" / "gait.h5")


def test_what_is_no_data_is_not_saved(sprung, tmp_path):
    curve = optimal.TradeOff("speed", "m/s", (), 0.0, None)
    with pytest.raises(ValueRangeError, match="has lost its problem"):
        curve.save(tmp_path / "curve.h5")
    strange = replace(sprung.result, times={"solve": len})
    with pytest.raises(ModelError, match=r"the result.times\['solve'\] is a builtin_function_or_method"):
        strange.save(tmp_path / "strange.h5")
    assert not (tmp_path / "strange.h5").exists()


def test_files_that_were_tampered_with_raise_errors_of_ours(passive, tmp_path):
    """Numbers of records, arrays, words and nodes are changed at random, with a checksum that fits."""
    choose = random.Random(1)
    classes = room_classes(*archive_file.ROOMS)

    def change(item):
        """Change one leaf of a document."""
        while isinstance(item, (dict, list)) and item:
            key = choose.choice(list(item) if isinstance(item, dict) else range(len(item)))
            if not isinstance(item[key], (dict, list)) or not item[key]:
                item[key] = choose.choice([None, -1, 10**6, "word", [], {}, {"record": 10**9}, 0.5])
                return
            item = item[key]

    failed = 0
    for _ in range(60):
        archive = to_archive(passive, passive.system, classes)
        if choose.random() < 0.7:
            change(choose.choice([archive.records, [archive.root], [list(map(list, archive.symbols))]]))
        else:
            table = getattr(archive.tape, choose.choice(["nodes", "shapes", "places"]))
            table[choose.randrange(len(table)), choose.randrange(3)] = choose.choice([-1, 10**9, 3])
        path = tmp_path / "tampered.h5"
        path.write_bytes(archive_file._hdf5(archive, "Gait"))
        try:
            gait.load(path)
        except StorageError:
            failed += 1
    assert failed > 10


def test_a_file_has_no_code(saved):
    with h5py.File(saved) as file:
        kinds = []
        file.visititems(lambda name, item: kinds.append(item.dtype.kind) if hasattr(item, "dtype") else None)
    assert set(kinds) <= set("fiub")
