"""Linkages with lengths: closed forms, a second opinion on what is screened out, and machines that close."""

from dataclasses import replace

import numpy as np
import pytest

import strut
from strut import linkage, mechanism
from strut.errors import ModelError, ShapeError, UnknownNameError, ValueRangeError
from strut.linkage import assembly_path
from strut.linkage.kinematics import LinkageKinematics
from strut.linkage.screening import MIN_REGULARITY, MIN_STRENGTH
from tests.linkage.second_opinion import SecondOpinion

MARGIN = np.deg2rad(5.0)
KNEE = linkage.Limb(
    ("thigh", "shank"),
    {"knee": ("thigh", "shank")},
    {"thigh": ((0.0, 0.9), (0.0, 0.5)), "shank": ((0.0, 0.5), (0.0, 0.1))},
)
FOUR_BAR = linkage.topologies(KNEE, 2, 3)[0]  # j1 thigh-b, j2 shank-a, j3 a-b


def leg_topologies():
    return linkage.topologies(linkage.human_leg(), 4, 6)


def random_designs(topology, count, seed=0):
    parameters = linkage.pin_parameters(topology)
    low, high = np.array([(each.low, each.high) for each in parameters]).T
    return np.random.default_rng(seed).uniform(low, high, (count, len(parameters)))


def bend(angles):
    return np.reshape(angles, (-1, 1))


def test_a_kite_on_the_knee():
    """Pins 0.2 m above and below the knee, bars of one length: in closed form by the law of cosines."""
    values = np.array([[0.5, 0.5, 0.1, 0.5]])
    assert [each.name for each in linkage.pin_parameters(FOUR_BAR)] == [
        "j1_along",
        "j2_along",
        "j3_x",
        "j3_z",
    ]
    rest = linkage.follow_postures(FOUR_BAR, values, bend([0.0]))
    assert rest.pins[0] == pytest.approx(np.array([[0, 0.7], [0, 0.3], [0.1, 0.5]]))
    motion = linkage.follow_postures(FOUR_BAR, values, bend(np.linspace(0, -0.6, 13)))
    assert motion.assembles.all()
    at = LinkageKinematics(FOUR_BAR, motion.pins).joint_positions(motion.coordinates[:, -1])[0]
    assert np.linalg.norm(at[0] - at[2]) == pytest.approx(np.sqrt(0.05), abs=1e-12)
    assert np.linalg.norm(at[1] - at[2]) == pytest.approx(np.sqrt(0.05), abs=1e-12)
    across = at[1] - at[0]  # of a kite the diagonals are perpendicular: knee and j3 are on one line
    assert abs(across @ (at[2] - (0, 0.5))) < 1e-12
    half = np.linalg.norm(across) / 2  # law of cosines at j3
    inner = 2 * np.arcsin(half / np.sqrt(0.05))
    begin = 2 * np.arcsin(0.2 / np.sqrt(0.05))
    opened = motion.coordinates[0] @ LinkageKinematics(FOUR_BAR, motion.pins).joint_turns[2]
    assert abs(opened[-1]) == pytest.approx(abs(inner - begin), abs=1e-12)


def test_a_four_bar_gives_out_where_its_bars_are_flat():
    """Bending brings the pins together, until they are as far apart as the bars differ: law of cosines."""
    values = np.array([[0.75, 0.5, 0.15, 0.75]])
    pins = linkage.pin_positions(FOUR_BAR, values)[0]
    bars = linkage.bar_lengths(FOUR_BAR, pins[None])[0]
    r1, r2, least = 0.1, 0.2, abs(bars[0] - bars[1])
    assert r1 + r2 < bars.sum()
    knees = -np.linspace(0, np.pi - 0.01, 400)
    motion = linkage.follow_postures(FOUR_BAR, values, bend(knees))
    apart = np.sqrt(r1**2 + r2**2 + 2 * r1 * r2 * np.cos(knees))
    assert motion.assembled[0].tolist() == (apart > least).tolist()
    assert 0 < motion.assembled.sum() < 400


@pytest.mark.parametrize("topology", leg_topologies(), ids=range(10))
def test_mobility_in_numbers_is_the_generic_one(topology):
    pins = linkage.pin_positions(topology, random_designs(topology, 40))
    kinematics = LinkageKinematics(topology, pins)
    y = np.zeros((40, 6))
    ranks = np.linalg.matrix_rank(kinematics.closures(y)[1])
    assert set(6 - ranks) == {topology.mobility()}
    y = np.random.default_rng(1).uniform(-0.3, 0.3, (40, 6))
    slope, step = kinematics.closures(y)[1], 1e-6
    for k in range(6):
        shift = step * np.eye(6)[k]
        numeric = (kinematics.closures(y + shift)[0] - kinematics.closures(y - shift)[0]) / (2 * step)
        assert numeric == pytest.approx(slope[:, :, k], abs=1e-8)


def second_look(topology, count, seed):
    """Screen designs; return how many were screened out, how many of these are below the limits of screening
    by a second computation, too, or have a dead point where they do not assemble, how many pass, and the
    largest loop error of those along a stride ten times as fine. Below a limit is near a singularity, not at
    one: the limits are what screening asks for by default."""
    values, stride = random_designs(topology, count, seed), linkage.stride_postures(20)
    motion = linkage.follow_postures(topology, values, stride, MARGIN)
    pair = topology.actuator_sets()[seed % 3]
    screening = linkage.screen(motion, pair)
    opinion = SecondOpinion(topology)
    places = [list(topology.joints).index(joint) for joint in pair]
    too_near = 0
    for design in np.flatnonzero(~screening.ok):
        p = opinion.numbers(values[design])
        if screening.assembles[design]:
            weakest, signs = (np.inf, np.inf), set()
            for sample in range(len(motion.postures)):
                rates = opinion.rates(opinion.angles(motion, design, sample), p)
                values_of_pair = np.linalg.svd(rates[places], compute_uv=False)
                signs.add(np.sign(np.linalg.det(rates[places])))
                weakest = (
                    min(weakest[0], values_of_pair[-1]),
                    min(weakest[1], 1 / np.linalg.svd(rates, compute_uv=False)[0]),
                )
            if len(signs) > 1:  # singular between two postures, by continuity
                weakest = 0.0, weakest[1]
            assert weakest[0] == pytest.approx(screening.strength[design], rel=1e-6, abs=1e-9)
            too_near += weakest[0] < MIN_STRENGTH or weakest[1] < MIN_REGULARITY
        else:
            too_near += dead_point(opinion, motion, values[design], design)
    passing = np.flatnonzero(screening.ok)
    fine = linkage.follow_postures(topology, values[passing], linkage.stride_postures(200))
    errors = [
        np.abs(
            np.array(opinion.function(opinion.angles(fine, k, sample), opinion.numbers(values[design]))[0])
        ).max()
        for k, design in enumerate(passing)
        for sample in range(0, 200, 5)
    ]
    assert fine.assembles.all()
    return int((~screening.ok).sum()), too_near, len(passing), max(errors, default=0.0)


def test_a_singularity_between_two_postures_is_seen():
    """The knee goes from bent to a little overstretched, and is looked at in two postures alone: each design
    that passes both but fails has a posture in between where its actuators hardly push in some direction, and
    each that passes has determinants of one sign all the way."""
    topology = leg_topologies()[0]
    pair = topology.actuator_sets()[0]
    places = [list(topology.joints).index(joint) for joint in pair]
    values = random_designs(topology, 150, 3)
    way = np.column_stack([np.full(200, 0.2), np.linspace(0.3, -0.05, 200)])
    dense = linkage.follow_postures(topology, values, way)
    whole = dense.assembles
    dense = dense.select(whole)
    ends = linkage.follow_postures(topology, values[whole], way[[0, -1]])
    screening = linkage.screen(ends, pair)
    at_ends = np.linalg.svd(ends.rates[:, :, places], compute_uv=False)[..., -1].min(axis=1)
    between = np.linalg.svd(dense.rates[:, :, places], compute_uv=False)[..., -1].min(axis=1)
    unseen = (at_ends >= 0.1) & (screening.strength == 0)
    assert unseen.sum() >= 3
    assert between[unseen].max() < 0.02
    seen = screening.strength > 0
    assert screening.strength[seen] == pytest.approx(at_ends[seen])
    signs = np.sign(np.linalg.det(dense.rates[:, :, places]))
    assert (signs[seen][:, 0] == signs[seen][:, -1]).all()


def dead_point(opinion, motion, values, design):
    """Whether the way to the first posture that does not assemble has a dead point: its branch turns back, or
    comes nearer to one than any design may that passes (a regularity below the limit)."""
    first = int(np.flatnonzero(~motion.assembled[design])[0])
    if first >= motion.along:  # beside the motion: from the sample it belongs to
        before = (first - motion.along) // ((len(motion.postures) - motion.along) // motion.along)
    else:
        before = first - 1
    q = np.zeros(opinion.size) if before < 0 else opinion.angles(motion, design, before)
    for step, tries in ((3e-3, 4000), (5e-4, 24000)):  # sharp folds are stepped over by large steps
        turned, least = opinion.turns_back(values, q, motion.postures[first], step, tries)
        if turned or least < MIN_REGULARITY:
            return True
    return False


def test_what_is_screened_out_is_below_the_limits_and_what_passes_assembles():
    """All that is screened out has less than 0.1 of strength or regularity by another computation, or a dead
    point on its way: near a singularity, which is what screening keeps away from, not always at one."""
    topology = leg_topologies()[4]
    out, too_near, passing, error = second_look(topology, 24, seed=1)
    assert out == too_near > 10
    assert passing > 1
    assert error < 1e-10


@pytest.mark.slow  # a thousand designs in all, each looked at again by its mechanism
@pytest.mark.parametrize(("seed", "topology"), list(enumerate(leg_topologies())), ids=range(10))
def test_a_thousand_designs_get_a_second_opinion(seed, topology):
    """Who is screened out is below the limits of 0.1, or has a dead point, by a second computation, too."""
    out, too_near, passing, error = second_look(topology, 100, seed)
    assert out == too_near
    assert out + passing == 100
    assert error < 1e-10


def test_bars_and_masses():
    topology = next(t for t in leg_topologies() if t.degree("a") == 3)
    assert len(linkage.bars(topology)) == 3 + 3  # a triangle and three bars
    pins = linkage.pin_positions(topology, random_designs(topology, 3))
    lengths = linkage.bar_lengths(topology, pins)
    pair = topology.actuator_sets()[0]
    assert linkage.linkage_masses(topology, pins, pair) == pytest.approx(
        2 * 2.0 + 4 * 0.5 + 0.7 * lengths.sum(axis=1)
    )
    m = linkage.linkage_mechanism(
        topology, random_designs(topology, 3)[1], masses={"thigh": 7.0, "shank": 3.0}
    )
    masses = {name: float(m.values(body.mass)[0, 0]) for name, body in m.bodies.items()}
    assert sum(masses[link] for link in topology.links) == pytest.approx(6 * 0.5 + 0.7 * lengths[1].sum())
    assert masses["thigh"] == 7.0


def test_bars_that_cross_are_counted():
    """Two four-bars, at the hip and at the knee: one bar of each is made to reach over the other."""
    topology = leg_topologies()[2]
    assert topology.text() == "j1 trunk-c, j2 thigh-b, j3 shank-a, j4 thigh-d, j5 a-d, j6 b-c"
    names = [each.name for each in linkage.pin_parameters(topology)]
    assert names == ["j1_along", "j2_along", "j3_along", "j4_along", "j5_x", "j5_z", "j6_x", "j6_z"]
    rest = np.zeros((1, 2))
    # hip bars end at z = 1.0 in front; knee bars at 0.5: apart; then each reaches beyond the other
    apart = np.array([[0.4, 0.3, 0.5, 0.7, 0.1, 0.5, 0.1, 1.0]])
    over = np.array([[0.4, 0.3, 0.5, 0.7, 0.1, 0.9, 0.1, 0.6]])
    assert linkage.crossings(linkage.follow_postures(topology, apart, rest)).tolist() == [0.0]
    assert linkage.crossings(linkage.follow_postures(topology, over, rest))[0] >= 1.0


def test_one_machine_serves_all_designs():
    """A run with other pins begins where they close, and stays closed; books close."""
    topology = leg_topologies()[1]
    m = linkage.linkage_mechanism(topology, masses={"thigh": 7.0, "shank": 3.3})
    machine = mechanism.system(m, project=0.01)
    values = random_designs(topology, 40, seed=3)
    motion = linkage.follow_postures(topology, values, np.array([[0.4, 0.5]]))
    good = np.flatnonzero(motion.assembles)[:2]
    for design in good:
        p = dict(zip([each.name for each in linkage.pin_parameters(topology)], values[design], strict=True))
        angles = {joint: float(a[design, 0]) for joint, a in linkage.carrying_angles(motion).items()}
        run = strut.simulate(machine, 0.2, x0={"hip": 0.4, "knee": 0.5, **angles}, p=p)
        assert run.ok
        assert np.abs(run["closure_error"]).max() < 1e-8
        assert run.ledger.residual < 1e-6


def test_pins_may_be_where_the_limb_is():
    """Of a leg where it was published, of a taller one in proportion; of any other limb around its own
    segments; or where the limb, or who asks, says it."""
    free = {"x": (-0.15, 0.15), "z": (0.1, 1.3)}
    assert linkage.human_leg().free_ranges() == free
    taller = linkage.human_leg(3.6).free_ranges()
    assert taller["z"] == pytest.approx((0.2, 2.6))
    finger = linkage.Limb(
        ("palm", "finger"),
        {"knuckle": ("palm", "finger")},
        {"palm": ((0.0, 0.0), (-0.06, 0.0)), "finger": ((0.0, 0.0), (0.03, 0.0))},
    )
    (four_bar,) = linkage.topologies(finger, 2, 3)
    j3 = {each.axis: (each.low, each.high) for each in linkage.pin_parameters(four_bar) if each.joint == "j3"}
    assert j3 == {"x": pytest.approx((-0.08, 0.05)), "z": pytest.approx((-0.02, 0.02))}
    told = {"x": (0.0, 0.1), "z": (0.2, 0.3)}
    says = replace(finger, pin_ranges=told)
    (other,) = linkage.topologies(says, 2, 3)
    assert linkage.pin_parameters(other)[-1].high == 0.3
    assert linkage.pin_parameters(four_bar, told)[-2:] == linkage.pin_parameters(other)[-2:]
    bare = linkage.topologies(linkage.Limb(("palm", "finger"), {"knuckle": ("palm", "finger")}), 2, 3)[0]
    with pytest.raises(ModelError, match="the limb has no segments, so that nothing says where pins may be"):
        linkage.pin_parameters(bare)
    assert len(linkage.pin_parameters(bare, told)) == 6
    with pytest.raises(ModelError, match="ranges has no 'z': give both axes"):
        replace(finger, pin_ranges={"x": (0.0, 1.0)})


def test_wrong_designs():
    with pytest.raises(ValueRangeError, match=r"design 1 has values that are not finite: \[nan"):
        linkage.pin_positions(FOUR_BAR, np.array([[0.5] * 4, [np.nan] * 4]))
    with pytest.raises(ModelError, match="ranges has no 'z': give both axes"):
        linkage.pin_parameters(FOUR_BAR, {"x": (0.0, 1.0)})
    assert not linkage.follow_postures(
        FOUR_BAR, np.zeros((2, 4)), bend([0.1])
    ).assembles.any()  # all in a line
    assert linkage.follow_postures(FOUR_BAR, np.zeros((0, 4)), bend([0.1])).assembles.size == 0
    with pytest.raises(
        ShapeError, match="a design has 2 values: 4 are needed, j1_along, j2_along, j3_x, j3_z"
    ):
        linkage.follow_postures(FOUR_BAR, np.ones((1, 2)), bend([0.0]))
    with pytest.raises(ShapeError, match="a posture has 2 angles: 1 are needed, of knee"):
        linkage.follow_postures(FOUR_BAR, np.ones((1, 4)), np.zeros((3, 2)))
    motion = linkage.follow_postures(FOUR_BAR, np.array([[0.5, 0.5, 0.1, 0.5]]), bend([0.0]))
    with pytest.raises(UnknownNameError, match="the linkage has no joint 'j4'"):
        linkage.screen(motion, ["j4"])
    with pytest.raises(ModelError, match="actuators are j1, j2: 1 joints are needed"):
        linkage.screen(motion, ["j1", "j2"])
    with pytest.raises(ValueRangeError, match="min_strength"):
        linkage.screen(motion, ["j1"], min_strength=-1.0)
    with pytest.raises(ShapeError, match=r"pins have the shape \(3, 2\): designs x 3 joints x 2 is needed"):
        linkage.bar_lengths(FOUR_BAR, np.zeros((3, 2)))
    loose = linkage.Topology(KNEE, ("a", "b"), (("thigh", "a"), ("a", "b")))
    with pytest.raises(ModelError, match="is not determined by the posture of its limb"):
        linkage.follow_postures(loose, np.array([[0.5, 0.1, 0.5]]), bend([0.0]))
    with pytest.raises(ModelError, match="the limb has no segment of 'shank'"):
        linkage.linkage_mechanism(
            linkage.topologies(linkage.Limb(("thigh", "shank"), {"knee": ("thigh", "shank")}), 2, 3)[0],
            np.ones(6),
        )


def test_neighbours_are_the_same_however_many_are_followed_at_once(monkeypatch):
    """Around postures that some designs do not reach, too."""
    topology = leg_topologies()[0]
    values = random_designs(topology, 40)
    stride = linkage.stride_postures(6)
    whole = linkage.follow_postures(topology, values, stride, 0.1)
    assert 0 < whole.assembles.sum() < len(values)
    monkeypatch.setattr(assembly_path, "ROWS_TOGETHER", 1)
    alone = linkage.follow_postures(topology, values, stride, 0.1)
    assert np.array_equal(whole.assembled, alone.assembled)
    assert np.array_equal(whole.postures, alone.postures)
    assert np.allclose(whole.rates, alone.rates, rtol=0, atol=1e-10, equal_nan=True)
