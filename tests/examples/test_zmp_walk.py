"""A biped of one's own walks: it does what its pattern says, and its feet do."""

import numpy as np

from tests.examples.gallery import check_printed
from tests.examples.test_examples import load


def foot_force(run, side, t):
    values = run.at(t)
    return sum(values[f"{side}_corner{k}_normal"] for k in range(4))


def test_it_walks_forward_back_and_in_place(tmp_path, capsys):
    example = load("zmp_walk")
    runs = example.main(folder=tmp_path)
    check_printed("zmp_walk.py", capsys.readouterr().out, rel=2e-2)
    assert (tmp_path / "zmp_walk.html").exists()
    assert all(run.status == "done" for run in runs.values())
    # compiled once: what the table says is a parameter
    assert len({run.model for run in runs.values()}) == 1
    run, pattern = runs["forward"], example.PATTERN
    t = np.arange(0.0, run.t1, 0.005)
    loads = {side: foot_force(run, side, t) for side in "rl"}
    weight = 9.81 * (18.0 + 2 * 7.8)
    # it stands still again in the end, on both feet
    assert abs(loads["r"][-1] + loads["l"][-1] - weight) < 0.01 * weight
    # each foot carries everything alone while the other swings, which is in the air in the middle of it
    for swing in pattern.swings:
        middle = (t > swing.begin + 0.15) & (t < swing.end - 0.15)
        assert loads["rl"[swing.side]][middle].max() == 0
        assert abs(loads["lr"[swing.side]][middle].mean() - weight) < 0.15 * weight
