"""What a run under a controller shows: a card, a table, figures, a page."""

import pytest

from strut import report
from strut.control import BodyModel, OrientationTask
from strut.errors import UnknownNameError

from ..control.bipeds import biped, on_ground, standing


@pytest.fixture(scope="module")
def runs():
    m = biped()
    body, machine = BodyModel(m), on_ground(m)
    impossible = [
        OrientationTask(frame="torso", target=0.0, name="up", hard=True),
        OrientationTask(frame="torso", target=1.0, name="down", hard=True),
    ]
    return standing(m, body).run(machine, 0.05), standing(m, body, tasks=impossible).run(machine, 0.05)


def test_a_run_is_a_table_and_a_card(runs):
    good, bad = runs
    table = good.to_dataframe()
    assert list(table.columns) == list(good.labels)
    assert len(table) == 50
    assert (table["knee_r_torque"].to_numpy() == good["knee_r_torque"]).all()
    assert "knee_r_torque" in good._repr_html_()
    assert "relaxed" in bad._repr_html_()
    assert "given up" in bad._repr_html_()
    assert "given up" not in good._repr_html_()


def test_a_run_draws_its_samples(runs):
    good, _ = runs
    (torques,) = good.plot()
    assert torques.y == "[N m]"
    assert set(torques.by_name) == {f"{joint}_{side}_torque" for joint in ("hip", "knee") for side in "rl"}
    (forces,) = good.plot("foot_r_force")
    assert forces.y == "[N]"
    assert (forces.by_name["foot_r_force[1]"].y == good["foot_r_force"][:, 1]).all()
    with pytest.raises(UnknownNameError, match="no sample has a 'knee_torque': did you mean"):
        good.plot("knee_torque")


def test_a_run_is_a_page(runs, tmp_path):
    good, bad = (report.controlled_result(run) for run in runs)
    assert good.well
    assert good.facts["unsolved or relaxed"] == "0"
    assert set(dict(good.figures())) == {"commands", "task-errors", "residuals"}
    assert not bad.well
    assert "50 of 50 samples: relaxed" in bad.verdict
    page = bad.page(tmp_path / "run.html").read_text()
    assert "Not as asked" in page
    assert "Quadratic programs" in page
