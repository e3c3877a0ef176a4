"""Every example runs, and what it shows is true."""

import importlib.util
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import strut
from tests.examples.gallery import check_printed, entries

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # as for any module: dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def test_first_system(capsys):
    run = load("first_system").main()
    assert run.status == "done"
    assert run["hits"][-1] >= 1
    assert run.ledger.residual < 1e-8
    rest = 1.5 - 0.5 * 9.81 / 8.0
    longer = load("first_system")
    assert strut.simulate(longer.system, t=300)["height"][-1] == pytest.approx(rest, abs=1e-6)
    said = capsys.readouterr().out
    assert "lost in events" in said
    check_printed("first_system.py", said)


def test_slip_map(capsys):
    steps = load("slip_map").main()
    assert abs(int((steps >= 24).sum()) - 581) <= 15
    check_printed(
        "slip_map.py", capsys.readouterr().out, rel=15 / 581
    )  # as above: runs at the edge may end either way


def test_controlled_pendulum(capsys):
    run = load("controlled_pendulum").main()
    assert abs(math.remainder(run["angle"][-1] - math.pi, 2 * math.pi)) < 1e-6
    assert run.ledger.residual < 1e-6
    said = capsys.readouterr().out
    assert len(said.splitlines()) == 3
    check_printed("controlled_pendulum.py", said)


def test_hopper_keeps_its_apex_and_its_books(tmp_path, capsys):
    hopper = load("hopper")
    run = hopper.main(tmp_path / "new" / "hopper")
    assert run.status == "done"
    tops = np.array([top.before["height"] for top in run.events if top.name == "apex_reached"])
    assert tops[0] == 0.6  # it starts at rest, at an apex
    assert len(tops) >= 10
    np.testing.assert_allclose(tops[2:], hopper.WANTED, atol=1e-4)
    assert run["ground"][run["stance"] > 0].min() > 0  # the ground never pulls

    books = run.ledger
    assert books.residual < 1e-10 * books.turnover
    for book in (*books.supplied.values(), *books.dissipated.values(), *books.lost.values()):
        assert book[-1] > 0.1 * books.turnover  # none is negligible, all have the sign of their name
        assert (
            np.diff(book).min() > -1e-12
        )  # and none runs backwards: the motor only pushes up while the body moves up
    said = capsys.readouterr().out
    assert "wanted 0.8" in said
    assert "201 done" in said
    check_printed("hopper.py", said)


def test_hopper_controllers_agree():
    hopper = load("hopper")
    times = np.linspace(0, 8, 1601)
    as_expressions = strut.simulate(hopper.hopper, t=8).at(times)
    in_python = strut.simulate(
        hopper.machine, t=8, control=strut.Hold(hopper.keep_apex, every=hopper.PERIOD)
    ).at(times)
    for theirs, ours in (("height", "height"), ("velocity", "velocity"), ("thrust", "command")):
        np.testing.assert_allclose(in_python[theirs], as_expressions[ours], rtol=1e-9, atol=1e-9)


def test_hopper_foot_costs_what_impacts_take():
    """From a steady apex the foot stops from v and is jerked from (1 + foot / mass) v, v^2 = 2 g (apex - length)."""
    hopper = load("hopper")
    feet = np.array([0.0, 0.5, 1.0])
    many = strut.simulate_batch(
        hopper.hopper, t=4, x0={"height": hopper.WANTED}, p={"foot": feet}, ledger=True
    )
    cost = (
        many.lost["foot stopped"] / many.counts["touchdown"]
        + many.lost["foot jerked"] / many.counts["liftoff"]
    )
    np.testing.assert_allclose(
        cost, feet * 9.81 * (hopper.WANTED - 0.5) * (2 + feet / 10), rtol=1e-4
    )  # the apex is kept to 1e-5 m


def test_hopper_goes_on_where_it_stopped(tmp_path):
    hopper = load("hopper")
    kept = strut.Trajectory.load(strut.simulate(hopper.hopper, t=3).save(tmp_path / "run.h5"), hopper.hopper)
    more, whole = (
        strut.simulate(hopper.hopper, t=(kept.t1, 5), **kept.end),
        strut.simulate(hopper.hopper, t=5),
    )
    times = np.linspace(3, 5, 401)
    np.testing.assert_allclose(more.at(times)["height"], whole.at(times)["height"], rtol=1e-9)


def test_three_grounds_agree(capsys):
    runs = load("three_grounds").main()
    assert {run.status for run in runs.values()} == {"done"}
    for name, apart in (("soft", 1e-3), ("stepped", 1e-3)):
        assert runs[name]["base.x"][-1] == pytest.approx(runs["rigid"]["base.x"][-1], abs=apart)
        assert runs[name]["base.z"][-1] == pytest.approx(
            runs["rigid"]["base.z"][-1], abs=2e-4
        )  # soft: it sinks by 0.1 mm
    for run in runs.values():
        assert run.ledger.residual < 1e-9
        assert run["foot_0_normal"][-1] == pytest.approx(9.81, rel=1e-6)
    said = capsys.readouterr().out
    assert "unexplained" in said
    check_printed("three_grounds.py", said)


def test_a_walker_from_a_urdf_is_designed(capsys):
    found = load("design_urdf").main()
    check_printed("design_urdf.py", capsys.readouterr().out)
    assert found.ok
    assert found.speed == pytest.approx(0.5, abs=1e-7)
    assert found.gait.stable
    assert found.parameters["hip_spring"] > 10
    assert found.replay.balance.relative < 1e-6
    walker, here = load("design_urdf").walker(), dict(found.parameters)

    def fixed(machine):
        free = {name: (value, value) for name, value in machine.items()}
        return strut.optimal.design(
            walker, free=free, cost="squared-torque", speed=0.5, slope=0.0, guess=found, accuracy=1e-6
        ).result.cost

    assert found.result.cost == pytest.approx(
        fixed(here), rel=1e-5
    )  # what was found is the best torque for this machine
    for name, step in (
        ("hip_spring", 5.0),
        ("hip_mass", 1.0),
    ):  # and no other machine nearby has a better one
        assert fixed({**here, name: here[name] + step}) > found.result.cost


def test_a_robust_design_beats_the_nominal_one_on_random_slopes(capsys):
    example = load("robust")
    trial = example.main()
    assert trial.robust.ok, trial.robust.wrong
    assert example.count_walks(trial.robust_walks) == len(trial.slopes)
    steepest = trial.nominal_walks[0]
    assert not steepest.ok  # its motor is too weak
    assert "'speed' is missed by" in steepest.wrong[0]
    pairs = list(zip(trial.nominal_walks, trial.robust_walks, strict=True))
    costs = np.array([[walk.result.cost for walk in pair] for pair in pairs if all(walk.ok for walk in pair)])
    assert len(costs) > len(trial.slopes) / 2  # what the nominal machine does not walk is not counted for it
    assert costs[:, 1].mean() < 0.6 * costs[:, 0].mean()
    level = trial.robust.designs[1].result.cost
    assert 1 < level / trial.nominal.result.cost < 1.3  # what it costs where nominal is meant for
    check_printed("robust.py", capsys.readouterr().out, rel=0.01)


@pytest.mark.slow  # four regulators and four hundred runs: half a minute on the processor
def test_held_by_the_same_regulator_the_robust_design_falls_less_and_costs_less(capsys):
    """On the same hundred random slopes that neither knows, by their plans for level ground, in simulation."""
    example = load("robust")
    softer, harder = example.compare_held(example.main()).values()
    for here in (softer, harder):
        nominal, robust = here["nominal"], here["robust"]
        only_nominal = nominal.walked & ~robust.walked
        assert not only_nominal.any()
        both = nominal.walked & robust.walked
        assert robust.costs[both].mean() < 0.9 * nominal.costs[both].mean()
    counts = {name: walks.walked.sum() for name, walks in harder.items()}
    assert counts["robust"] == pytest.approx(66, abs=2)
    assert counts["nominal"] == pytest.approx(46, abs=2)
    assert softer["robust"].walked.sum() == pytest.approx(67, abs=2)
    assert softer["nominal"].walked.sum() == pytest.approx(66, abs=2)
    assert "robust, held with 30 N m: 66 of 100 random slopes" in capsys.readouterr().out


def test_codesign_beats_design_then_control(capsys):
    for name, found in load("codesign").main().items():
        assert found.machine.result.cost < 1e-6, name  # designed first: it walks down its slope by itself
        assert found.then.ok, name
        assert found.both.ok, name
        assert found.both.result.cost < 0.9 * found.then.result.cost, name
        assert found.both.replay.balance.relative < 1e-5, name
    said = capsys.readouterr().out
    assert said.count("verified") == 4
    check_printed("codesign.py", said, rel=0.01)  # a percentage without decimals


def test_step_over(capsys, tmp_path):
    again = load("step_over").main(tmp_path / "over.html")
    assert again.result.ok
    assert again.ok
    assert again.balance.relative < 1e-9
    assert again.balance.stored == pytest.approx(0, abs=1e-7)  # as fast as before
    names = [e for e in again.run.events.names if e in ("passes", "knee_strike", "heel_strike")]
    assert names == ["passes", "knee_strike", "heel_strike"] * 2
    heights = [again.run.at(e.t)["clearance"] for e in again.run.events if e.name == "passes"]
    assert heights[0] == pytest.approx(0.05, abs=1e-5)
    end = {name: again.run[name][-1] for name in again.result.x0}
    assert end == pytest.approx(again.result.x0, abs=1e-6)
    said = capsys.readouterr().out
    assert "the simulator agrees" in said
    check_printed("step_over.py", said)


def test_elastic_drives_need_less_torque(tmp_path, capsys):
    found = load("elastic_drives").main(tmp_path / "drives.svg")
    for kind, design in found.items():
        assert design.ok, kind
        assert (design.speed, design.step_length) == pytest.approx((0.5, 0.35), abs=1e-6)
        assert design.replay.run.ledger.relative < 1e-9
        assert design.replay.balance.relative < 1e-6
        assert design.replay.balance.work > design.replay.balance.lost - 1e-5  # on level ground
    rigid, series, parallel = (found[kind].result.cost for kind in ("rigid", "series", "parallel"))
    assert series < 0.5 * parallel < 0.5 * rigid
    assert found["series"].replay.balance.dissipated > 10  # and pays for it in work
    example = load("elastic_drives")
    worked = {kind: example.work_per_metre(design) for kind, design in found.items()}
    for kind, design in found.items():  # a motor gives and takes at least what it gives on balance
        assert worked[kind] * design.step_length > design.replay.balance.work - 1e-3
    assert worked["series"] > 2 * worked["rigid"]
    curves = example.figures(found)[0].by_name
    ends = {kind: line.y[-1] / 0.35 for kind, line in example.figures(found)[1].by_name.items()}
    assert ends == pytest.approx(worked, rel=1e-2)
    t, torque = curves["rigid"].x, curves["rigid"].y
    assert np.trapezoid(torque**2, t) / 0.35 == pytest.approx(
        rigid, rel=1e-3
    )  # what is drawn is what was counted
    assert (tmp_path / "drives.svg").exists()
    said = capsys.readouterr().out
    assert said.count("agrees") == 3
    check_printed("elastic_drives.py", said)


TESTED_ELSEWHERE = {
    "arm_linkage.py": "tests/linkage/test_example.py",
    "bond_graphs.py": "tests/ports/test_examples.py",
    "coman.py": "tests/examples/test_coman.py",
    "demo.py": "tests/view/test_demo.py",
    "foot_placement.py": "tests/control/test_step_feedback.py",
    "held_gait.py": "tests/control/test_closed_loops.py",
    "human_optimal.py": "tests/examples/test_human_optimal.py",
    "own_walker.py": "tests/examples/test_own_walker.py",
    "polar_hopper.py": "tests/system/test_alternate.py",
    "rabbit.py": "tests/examples/test_rabbit.py",
    "running.py": "tests/optimal/test_running.py",
    "servo_leg.toml": "tests/contact/test_servo_tables.py",
    "walking_human.py": "tests/examples/test_walking_human.py",
    "zmp_walk.py": "tests/examples/test_zmp_walk.py",
}


COMPANIONS = {
    "compass_goal.toml": "tests/cli/test_goal_file.py",
    "heron.toml": "tests/optimal/test_heel_toe.py",
    "hoist.toml": "tests/ports/test_examples.py",
    "human_job.toml": "tests/examples/test_walking_human.py",
    "human_muscles_job.toml": "tests/examples/test_walking_human.py",
    "network_job.toml": "tests/evolve/test_network_job.py",
    "rabbit.toml": "tests/contact/test_model_file.py",
    "slip_job.toml": "tests/evolve/test_job_file.py",
}
"""Data that stands beside an example in the gallery, and where it is tried."""


def test_no_example_is_forgotten():
    """Every example stands in the gallery, and what the gallery says that it prints is compared with what it prints."""
    shown = set(entries())
    files = {path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".toml")}
    assert files == shown | set(COMPANIONS)
    here = Path(__file__)
    gallery = (here.parents[2] / "docs" / "gallery.md").read_text(encoding="utf-8")
    for name, test in COMPANIONS.items():
        assert f"../examples/{name}" in gallery
        assert name in (here.parents[2] / test).read_text(encoding="utf-8")
    for name in shown:
        test = here.parents[2] / TESTED_ELSEWHERE[name] if name in TESTED_ELSEWHERE else here
        assert re.search(rf'check_printed\(\s*"{name}"', test.read_text(encoding="utf-8")), name


def test_pushed_biped(capsys):
    run = load("pushed_biped").main()
    assert run.ok
    assert run.kkt < 1e-8
    check_printed("pushed_biped.py", capsys.readouterr().out, rel=0.05)


@pytest.mark.slow(reason="a biped in space and its controller are compiled, a minute")
def test_catching_steps(capsys):
    run = load("catching_steps").main()
    assert run.ok, run.faults
    assert run.kkt < 1e-8
    printed = capsys.readouterr().out
    assert "without steps: fall" in printed
    at_rest = abs(run["com"][-1] - run["com"][-100]).max()
    assert at_rest < 5e-3
    check_printed("catching_steps.py", printed, rel=0.05)


def test_a_controller_in_a_process_of_its_own_gives_the_same_torques(capsys, tmp_path):
    biped = load("pushed_biped")
    rows = load("controller_process").main(str(tmp_path))
    inside = biped.controller.run(biped.machine, t=0.2, u=biped.PUSH)
    assert rows[:, 1:] == pytest.approx(
        np.stack([inside[n] for n in biped.controller.command], axis=1), abs=1e-9
    )
    assert (tmp_path / "daqp_LICENSE").read_text().startswith("MIT")
    check_printed("controller_process.py", capsys.readouterr().out)


def test_oscillator_leg(capsys):
    example = load("oscillator_leg")
    run = example.main(12.0)
    late = run.at(np.linspace(7, 12, 501))
    assert np.mean(late["hip.phase"] - late["knee.phase"]) == pytest.approx(math.pi / 2, abs=0.1)
    assert np.ptp(late["leg.hip"]) > 2 * 0.4  # further than asked
    assert run["leg.hip_torque"][0] == pytest.approx(60 * 0.4)
    turns = (late["hip.phase"][-1] - late["hip.phase"][0]) / (2 * math.pi) / 5
    assert abs(turns - 1.2) > 0.02  # the leg pulls the oscillator along
    said = capsys.readouterr().out
    assert "turns behind the hip" in said
    check_printed("oscillator_leg.py", said)


def test_the_biped_of_the_model_file_falls(capsys):
    """What `strut run examples/biped.toml -t 0.5` prints of its energy; its centre of mass falls by g t^2 / 2."""
    from strut import mechanism

    run = strut.simulate(mechanism.system(mechanism.modelfile.load(EXAMPLES / "biped.toml")), t=0.5)
    assert run["com_z"][-1] - run["com_z"][0] == pytest.approx(-9.81 * 0.5**2 / 2, rel=1e-9)
    check_printed(
        "biped.toml", "\n".join(f"{where} {joules:.9g}" for where, joules in run.ledger.summary().items())
    )
