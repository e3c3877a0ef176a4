"""Results as tables: DataFrames with the numbers of the results, and cards for notebooks that are safe."""

import html
import math
import pickle

import numpy as np
import pytest

import strut
from strut import gait, linear, optimal, walkers
from strut.control.held_gait import Compared
from strut.errors import MissingExtraError
from strut.gait.branch import Bifurcation
from strut.gait.rough_ground import RoughWalk
from strut.linkage.screening import Screening
from strut.optimal.walk.sweep_file import SweepPoint
from strut.simulate.batch_summary import BatchSummary, MeasureSummary
from strut.studies.study import Row, Study
from strut.tabular import Tabular

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def passive():
    return gait.find(walkers.compass(slope=math.radians(3)))


@pytest.fixture(scope="module")
def design(passive):
    return optimal.design(
        passive.system, free={"hip_spring": (0, 100)}, cost="squared-torque", speed=0.8, guess=passive
    )


@pytest.fixture(scope="module")
def level(passive):
    """A walk that its speed and the parameters of the machine cost something."""
    return optimal.design(walkers.compass(slope=0.0), speed=0.5, guess=passive)


@pytest.fixture(scope="module")
def results(passive, design, level):
    run = passive.trajectory
    branch = gait.follow(passive.system, "slope", 0.053, start=passive, points=20)
    measure = {"count": 2, "mean": 0.2, "deviation": 0.1, "least": 0.1, "least_run": 0}
    summary = BatchSummary(2, {"done": 2}, {"stance": MeasureSummary(**measure, most=0.3, most_run=1)})
    points = (
        SweepPoint(0.5, True, "solved", {"cost": 1.0, "largest multiplier": 0.5}),
        SweepPoint(0.6, False, EVIL, {"cost": math.nan}),
    )
    return {
        "gait": passive,
        "branch": branch,
        "basin": gait.basin(passive, cells=3, steps=2),
        "energetics": passive.energetics,
        "events": run.events,
        "account": run.ledger,
        "steps": run.steps(),
        "batch": strut.simulate_batch(passive.system, t=0.2, x0={"stance": [0.1, 0.2, 0.3]}),
        "equilibrium": linear.equilibrium(walkers.pendulum(), {"angle": 0.1}),
        "solution": design.result,
        "design": design,
        "active limits": level.active_limits,
        "sensitivities": level.sensitivities,
        "sensitivity": level.result.sensitivity("leg_mass"),
        "replay": level.replay,
        "balance": level.replay.balance,
        "foot load": level.replay.foot_loads[0],
        "survived": gait.Survived("step down", 0.01, 0.02, "fall", "m"),
        "rough walk": RoughWalk(0.01, 2, np.array([2, 2]), ("walks on", "walks on")),
        "impact loss": gait.impact_loss(passive.system, passive.x0),
        "bifurcation": Bifurcation("doubling", 0.07, branch.points[0], branch),
        "batch summary": summary,
        "measure": summary["stance"],
        "compared": Compared("largest multiplier", 0.6, 0.1, note=EVIL),
        "mode": linear.modes(linear.linearise(walkers.pendulum()))[0],
        "screening": Screening(
            assembles=np.array([True, False]),
            strength=np.array([0.5, 0.0]),
            regularity=np.array([0.5, 0.0]),
            weakest=np.array([0, 0]),
            min_strength=0.1,
            min_regularity=0.1,
        ),
        "trade-off": optimal.TradeOff("speed", "m/s", points, 0.0, None),
        "study": Study(EVIL, EVIL, EVIL, lambda: [Row(EVIL, "1", "2")]),
    }


def test_every_result_is_a_frame_and_a_card(results):
    pandas = pytest.importorskip("pandas")
    for name, result in results.items():
        assert isinstance(result, Tabular), name
        frame = result.to_dataframe()
        assert isinstance(frame, pandas.DataFrame)
        assert list(frame.columns) == list(result.columns()), name
        assert len(frame) > 0, name
        page = result._repr_html_()
        assert page.startswith("<div><strong>"), name
        assert "<script>" not in page, name


def test_a_tuple_that_is_a_table_is_a_tuple(level):
    limits = level.active_limits
    assert limits == tuple(limits)
    assert pickle.loads(pickle.dumps(limits)).columns() == limits.columns()
    none = type(limits)()
    assert none.columns() == {}
    assert none._repr_html_().startswith("<div><strong>none")
    assert limits[0].sentence in html.unescape(limits._repr_html_())


def test_frames_have_the_numbers(passive, design, level, results):
    pytest.importorskip("pandas")
    values = passive.to_dataframe().set_index("name")["value"]
    assert values["period"] == passive.period
    assert values["stance"] == passive.x0["stance"]
    balance = results["balance"].to_dataframe().set_index("name")["value"]
    assert balance["work"] == level.replay.balance.work
    loss = results["impact loss"]
    assert loss.to_dataframe()["fraction lost"].tolist() == loss.fractions.tolist()
    assert loss.columns()[loss.names[1]].tolist() == loss.directions[1].tolist()
    assert results["survived"].to_dataframe()["largest"].tolist() == [0.01]
    assert results["rough walk"].to_dataframe()["steps made"].tolist() == [2, 2]
    assert results["batch summary"].to_dataframe()["most_run"].tolist() == [1]
    assert "endings" in results["batch summary"]._repr_html_()
    assert results["screening"].to_dataframe()["ok"].tolist() == [True, False]
    assert results["bifurcation"].to_dataframe()["slope"].tolist() == [0.07]
    assert max(results["mode"].to_dataframe()["size"]) == pytest.approx(1.0)
    branch = results["branch"]
    assert branch.to_dataframe()["slope"].tolist() == branch.parameter.tolist()
    values = design.to_dataframe().set_index("name")
    assert values.loc["hip_spring", "value"] == design.parameters["hip_spring"]
    assert values.loc["hip_spring", "unit"].startswith("N m/rad")
    motion = design.result.to_dataframe()
    assert motion["stance"].tolist() == design.result["stance"].tolist()
    assert set(motion["phase"]) == {m.name for m in design.result.phases}
    limits = level.active_limits.to_dataframe()
    assert limits["name"].tolist() == [each.name for each in level.active_limits]
    assert limits["slope"].tolist() == [each.slope for each in level.active_limits]
    assert limits["sentence"].tolist() == [each.sentence for each in level.active_limits]
    slopes = level.sensitivities.to_dataframe().set_index("name")["slope"]
    assert slopes["leg_mass"] == level.result.cost_slopes["leg_mass"]
    change = results["sensitivity"].to_dataframe().set_index("of")["change per unit of leg_mass"]
    assert change["cost"] == pytest.approx(slopes["leg_mass"], rel=1e-6)
    assert change["duration"] == results["sensitivity"].duration
    told = level.replay.to_dataframe().set_index("name")["value"]
    late = level.replay.late
    assert told["ends later than planned by" if late >= 0 else "ends earlier than planned by"] == abs(late)
    assert told["lost in impacts"] == level.replay.balance.lost
    frame = results["trade-off"].to_dataframe()
    assert frame["ok"].tolist() == [True, False]
    assert frame["stable"].tolist() == [True, None]
    assert np.isnan(frame["cost"][1])
    run = passive.trajectory
    assert run.to_dataframe()["stance"].tolist() == run["stance"].tolist()
    account = run.ledger.to_dataframe()
    assert np.abs(account["imbalance"]).max() == run.ledger.residual
    hits = run.events.to_dataframe()
    assert hits["event"].tolist() == list(run.events.names)
    assert hits["stance after"].tolist() == [e.after["stance"] for e in run.events]
    batch = results["batch"]
    assert batch.to_dataframe()["stance"].tolist() == batch["stance"].tolist()


def test_long_tables_are_shown_in_part(results):
    page = results["branch"]._repr_html_()
    assert f"12 of {len(results['branch'])} rows" in page
    assert "ok, squared-torque" in results["design"]._repr_html_()


def test_without_pandas_the_extra_is_named(results, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="to_dataframe needs pandas"):
        results["gait"].to_dataframe()
