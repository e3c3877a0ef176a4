"""The example of an arm: what it finds is what a second look finds, and it prints what the gallery says."""

import numpy as np

from strut import linkage
from tests.examples.gallery import check_printed
from tests.examples.test_examples import load


def test_a_linkage_for_an_arm(tmp_path, capsys):
    example = load("arm_linkage")
    mass = example.main(tmp_path / "arm.svg")
    check_printed("arm_linkage.py", capsys.readouterr().out)
    assert (tmp_path / "arm.svg").read_text().startswith("<svg")
    ((topology, pair),) = [
        (t, pair) for t in linkage.topologies(example.ARM, 4, 6) for pair in example.both_on_the_back(t)
    ]
    _, values = example.lightest(topology, pair, 0)
    # along a reach ten times as fine it stays closed and strong, and its mass is that of its parts
    fine = np.column_stack([np.linspace(0.2, 1.0, 150), np.linspace(0.9, 0.3, 150)])
    motion = linkage.follow_postures(topology, values[None], fine)
    assert linkage.screen(motion, pair, min_strength=0.3).ok.all()
    assert mass == linkage.linkage_masses(topology, motion.pins, pair)[0]
    bars = linkage.bar_lengths(topology, motion.pins)
    assert abs(mass - (2 * 2.0 + 4 * 0.5 + 0.7 * bars.sum())) < 1e-12
