"""Topologies: counted as published, as textbooks do, and as brute force does."""

import json
import math
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest

from strut import linkage
from strut.cli.app import main
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.linkage import generic_rank
from strut.studies import kieboom_topologies

KNEE = linkage.Limb(("thigh", "shank"), {"knee": ("thigh", "shank")})


def test_ten_topologies_and_126_pairs():
    """Kieboom, table 5.1: 9, six times 12 and three times 15 pairs."""
    leg_topologies = linkage.topologies(linkage.human_leg(), links=4, joints=6)
    pairs = Counter(len(each.actuator_sets()) for each in leg_topologies)
    assert pairs == {9: 1, 12: 6, 15: 3}
    assert all(each.mobility() == 2 and not linkage.broken_rules(each) for each in leg_topologies)


def test_the_pairs_themselves_are_those_of_the_table():
    """Not their number alone: with joints numbered as published, every pair."""
    numbered = kieboom_topologies.numbered_topologies()
    assert sorted(numbered) == list(range(1, 11))
    for number, (topology, numbers) in numbered.items():
        ours = kieboom_topologies.pair_numbers(topology.actuator_sets(), numbers)
        assert ours == kieboom_topologies.published_pairs(number)


@pytest.mark.parametrize(
    ("links", "joints", "mobility", "count"),
    [(4, 4, 1, 1), (6, 7, 1, 2), (5, 5, 2, 1), (7, 8, 2, 4), (6, 6, 3, 1)],
    ids=["four-bar", "Watt and Stephenson", "five-bar", "seven links", "six-bar loop"],
)
def test_kinematic_chains_of_textbooks(links, joints, mobility, count):
    """The numbers of planar kinematic chains with simple joints (Tsai, Mechanism Design, 2000)."""
    assert len(linkage.topologies(linkage.Limb(), links, joints, mobility)) == count


def count_by_burnside(bodies, limb_joints, links, joints, mobility):
    """Count topologies as orbits: the mean number of labelled graphs that an exchange of links leaves as they
    are (Burnside's lemma). Mobility by singular values at real positions: nothing here is shared with
    strut.linkage."""
    parts = bodies + links
    pairs = [*product(range(bodies), range(bodies, parts)), *combinations(range(bodies, parts), 2)]
    rng = np.random.default_rng(5)
    places = {pair: rng.uniform(-1, 1, 2) for pair in [*limb_joints, *pairs]}

    def free(graph, locked=()):
        rows = []
        for a, b in [*limb_joints, *graph]:
            x, z = places[a, b]
            for turn, axis in ((z, 1), (-x, 2)):
                row = np.zeros(3 * parts)
                row[[3 * a, 3 * b]], row[[3 * a + axis, 3 * b + axis]] = (turn, -turn), (1, -1)
                rows.append(row)
        for a, b in locked:
            row = np.zeros(3 * parts)
            row[[3 * a, 3 * b]] = 1, -1
            rows.append(row)
        return 3 * (parts - 1) - np.linalg.matrix_rank(np.array(rows)[:, 3:])

    valid = set()
    for graph in combinations(pairs, joints):
        degrees = np.bincount(np.array(graph).reshape(-1), minlength=parts)
        if degrees[bodies:].min() < 2 or degrees[:bodies].min(initial=1) < 1 or free(graph) != mobility:
            continue
        if free(graph, limb_joints) != mobility - len(limb_joints):
            continue
        if any(free(graph, [joint]) != mobility - 1 for joint in graph):
            continue
        valid.add(frozenset(graph))  # connected: every part is held, and none moves off as a whole
    unmoved = 0
    for images in permutations(range(bodies, parts)):
        image = [*range(bodies), *images]
        for graph in valid:
            moved = frozenset(tuple(sorted((image[a], image[b]))) for a, b in graph)
            unmoved += moved == graph
    assert unmoved % math.factorial(links) == 0
    return unmoved // math.factorial(links)


def test_another_method_counts_the_same():
    """A case that was never published, a knee with four links; and the thesis' own by another way."""
    assert count_by_burnside(2, [(0, 1)], 4, 6, 1) == len(linkage.topologies(KNEE, 4, 6, 1)) > 1
    assert count_by_burnside(3, [(0, 1), (1, 2)], 4, 6, 2) == 10


@pytest.mark.slow  # 77,520 labelled graphs, each by singular values
def test_five_links_of_mobility_two():
    assert count_by_burnside(2, [(0, 1)], 5, 7, 2) == len(linkage.topologies(KNEE, 5, 7, 2))


def test_generic_rank_is_that_of_real_positions():
    """Of random graphs: the finite field says what singular values say."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        bodies = int(rng.integers(3, 8))
        pairs = list(combinations(range(bodies), 2))
        pins = [pairs[k] for k in rng.permutation(len(pairs))[: rng.integers(2, len(pairs) + 1)]]
        locked = list(rng.permutation(len(pins))[: rng.integers(0, 3)])
        exact = generic_rank.constraint_matrix(bodies, pins, locked)
        real = np.zeros((len(exact), 3 * bodies))
        for k, ((a, b), (x, z)) in enumerate(zip(pins, rng.uniform(-1, 1, (len(pins), 2)), strict=True)):
            for body, sign in ((a, 1.0), (b, -1.0)):
                real[2 * k, 3 * body : 3 * body + 2] = sign * z, sign
                real[2 * k + 1, [3 * body, 3 * body + 2]] = -sign * x, sign
        for row, pin in enumerate(locked, start=2 * len(pins)):
            real[row, [3 * pins[pin][0], 3 * pins[pin][1]]] = 1, -1
        assert generic_rank.rank_in_field(exact) == np.linalg.matrix_rank(real[:, 3:])


def test_a_rule_of_ones_own():
    """No joint of the linkage on the thigh but one, and links in a chain: what is left keeps it."""
    chain = linkage.Rule("no link with three pins", lambda t: all(t.degree(link) == 2 for link in t.links))
    kept = linkage.topologies(linkage.human_leg(), 4, 6, further=[chain])
    assert len(kept) == 3
    assert {len(each.actuator_sets()) for each in kept} == {9, 12}
    dangling = linkage.Topology(KNEE, ("a", "b"), (("thigh", "a"), ("a", "b")))
    assert linkage.broken_rules(dangling) == (
        "every link held twice",
        "every body attached",
    )
    assert dangling.mobility() == 3
    assert dangling.mobility(["knee", "j1"]) == 1


def test_a_four_bar_on_the_knee_has_three_actuators_to_choose_from():
    (four_bar,) = linkage.topologies(KNEE, 2, 3)
    assert four_bar.actuator_sets() == (("j1",), ("j2",), ("j3",))
    assert four_bar.text() == "j1 thigh-b, j2 shank-a, j3 a-b"


def test_wrong_limbs_and_topologies():
    with pytest.raises(UnknownNameError, match="joint 'knee' connects 'shin', which is no body of the limb"):
        linkage.Limb(("thigh", "shank"), {"knee": ("thigh", "shin")})
    with pytest.raises(ModelError, match="name joints from the first body outwards"):
        linkage.Limb(("thigh", "shank"), {"knee": ("shank", "thigh")})
    with pytest.raises(ModelError, match="the limb has no joints: say which mobility"):
        linkage.topologies(linkage.Limb(("ground",)), 3, 4)
    with pytest.raises(
        ModelError, match="40 joints are asked for, but 2 links and 2 bodies can be joined in"
    ):
        linkage.topologies(KNEE, 2, 40)
    arm = linkage.Limb(("torso", "arm", "hand"), {"shoulder": ("torso", "arm"), "elbow": ("arm", "hand")})
    with pytest.raises(
        ModelError,
        match="4 links with 5 joints have a mobility of 4 at least, and 2 is asked for: take 6 joints",
    ):
        linkage.topologies(arm, 4, 5)
    with pytest.raises(
        ModelError, match="3 links with 4 joints have a mobility of 3 at least.*5 joints take one"
    ):
        linkage.topologies(arm, 3, 4)
    assert linkage.topologies(arm, 3, 5) == ()  # by counting 1: over-constrained, whatever is asked
    with pytest.raises(ValueRangeError, match="links is 9"):
        linkage.topologies(KNEE, 9, 12)
    with pytest.raises(ModelError, match="two pins join 'thigh' and 'a': they would be one rigid body"):
        linkage.Topology(KNEE, ("a",), (("thigh", "a"), ("thigh", "a")))
    with pytest.raises(UnknownNameError, match="the linkage has no joint 'j9'"):
        linkage.topologies(KNEE, 2, 3)[0].mobility(["j9"])


def test_graphs_and_linkages_are_drawn():
    for topology in linkage.topologies(linkage.human_leg(), 4, 6):
        graph = ET.fromstring(linkage.draw_graph(topology, actuators=["j1"]))
        texts = {e.text for e in graph.iter("{http://www.w3.org/2000/svg}text")}
        assert {*topology.parts, *topology.joints, "hip", "knee"} <= texts
        pins = linkage.pin_positions(topology, linkage.sketch_values(topology))[0]
        apart = [np.linalg.norm(a - b) for a, b in combinations(pins, 2)]
        assert min(apart) > 0.02  # no two pins are drawn at one place
        drawn = ET.fromstring(linkage.draw_linkage(topology))
        bars = [e for e in drawn.iter("{http://www.w3.org/2000/svg}line") if e.find("*") is not None]
        three = sum(topology.degree(link) == 3 for link in topology.links)
        assert len(bars) == (4 - three) + 3 * three


def test_what_has_no_joints_is_drawn_and_unknown_actuators_are_refused():
    loose = linkage.Topology(linkage.human_leg(), ("a",), ())
    texts = [
        e.text for e in ET.fromstring(linkage.draw_graph(loose)).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {"trunk", "a"} <= set(texts)
    ET.fromstring(linkage.draw_linkage(loose))
    for draw in (linkage.draw_graph, linkage.draw_linkage):
        with pytest.raises(UnknownNameError, match="the linkage has no joint 'j9'"):
            draw(loose, actuators=["j9"])


def test_the_study_prints_the_pairs(capsys, tmp_path):
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "kieboom-topologies", "--json", "-o", str(tmp_path / "page.html")])
    assert not end.value.code
    rows = {row["quantity"]: row for row in json.loads(capsys.readouterr().out)["result"]["rows"]}
    assert rows["topologies"]["ours"] == "10"
    assert rows["pairs of actuators"]["ours"] == "126"
    assert all(row["published"] == row["ours"] for row in rows.values())
    assert (tmp_path / "page.html").read_text().count("<svg") >= 20
