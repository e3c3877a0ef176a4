"""A limb of one's own, as the guide says it: counted, screened, built, driven and drawn."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import strut
from strut import linkage, mechanism

ARM = linkage.Limb(
    ("torso", "upper_arm", "forearm"),
    {"shoulder": ("torso", "upper_arm"), "elbow": ("upper_arm", "forearm")},
    segments={
        "torso": ((0.0, 0.45), (0.0, 0.0)),
        "upper_arm": ((0.0, 0.45), (0.0, 0.15)),
        "forearm": ((0.0, 0.15), (0.25, 0.15)),  # held forward in the reference posture
    },
)
REACH = np.column_stack([np.linspace(0.0, -0.6, 12), np.linspace(0.0, -0.4, 12)])


def test_an_arm_whose_forearm_is_held_forward():
    """As many topologies as a leg has, which is what counting knows of a limb; pins around the arm; a machine
    whose motors work, closed where screening says it is."""
    topologies = linkage.topologies(ARM, 4, 6)
    assert len(topologies) == 10
    assert ARM.free_ranges() == {"x": (-0.15, 0.4), "z": (-0.15, pytest.approx(0.6))}
    topology = topologies[3]
    pair = topology.actuator_sets()[0]
    parameters = linkage.pin_parameters(topology)
    low, high = np.array([(each.low, each.high) for each in parameters]).T
    designs = np.random.default_rng(0).uniform(low, high, (200, len(parameters)))
    motion = linkage.follow_postures(topology, designs, REACH, margin=0.05)
    screening = linkage.screen(motion, pair)
    assert screening.ok.sum() > 5
    best = int(np.argmax(np.where(screening.ok, screening.strength, 0.0)))
    machine = linkage.add_joint_motors(
        mechanism.system(linkage.linkage_mechanism(topology, designs[best], masses={"forearm": 1.5})),
        linkage.joint_angles(topology),
    )
    begin = {joint: float(angles[best, 0]) for joint, angles in linkage.carrying_angles(motion).items()}
    driven = machine.using({f"{pair[0]}_motor_torque": 2.0, f"{pair[1]}_motor_torque": -1.0})
    run = strut.simulate(driven, 0.3, x0=begin)
    assert run.status == "done"
    assert np.abs(run["closure_error"]).max() < 1e-8
    assert run.ledger.residual < 1e-6
    assert abs(run.ledger.supplied[f"{pair[0]}_motor_torque"][-1]) > 1e-3  # [J]
    drawn = ET.fromstring(linkage.draw_linkage(topology, designs[best], actuators=pair))
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}circle"))) == 6 + 2


def test_pictures_fit_limbs_of_any_size_and_name():
    """Boxes are as wide as their names and inside the picture; a finger is drawn as large as a leg."""
    svg = "{http://www.w3.org/2000/svg}"
    sizes = []
    for scale in (0.05, 1.0, 20.0):
        limb = linkage.Limb(
            ("shoulder_blade", "upper_arm"),
            {"shoulder": ("shoulder_blade", "upper_arm")},
            segments={"upper_arm": ((0.0, scale), (0.0, 0.0))},
        )
        (four_bar,) = linkage.topologies(limb, links=2, joints=3)
        drawn = ET.fromstring(linkage.draw_linkage(four_bar))
        sizes.append(float(drawn.get("height")))
        graph = ET.fromstring(linkage.draw_graph(four_bar))
        left, _, width, _ = (float(word) for word in graph.get("viewBox").split())
        boxes = [(float(each.get("x")), float(each.get("width"))) for each in graph.iter(f"{svg}rect")]
        assert boxes[0][1] > 6 * len("shoulder_blade")
        assert all(x > left and x + wide < left + width for x, wide in boxes)
    assert max(sizes) < 1.01 * min(sizes)
    assert 200 < sizes[0] < 600


def test_a_hind_leg_of_three_joints():
    """More joints than a human leg has: counted, screened around postures that differ in three angles, driven
    by three motors, and closed."""
    leg = linkage.Limb(
        ("pelvis", "thigh", "shank", "paw"),
        {"hip": ("pelvis", "thigh"), "stifle": ("thigh", "shank"), "hock": ("shank", "paw")},
        segments={
            "pelvis": ((-0.1, 0.5), (0.1, 0.5)),
            "thigh": ((0.0, 0.5), (0.06, 0.33)),
            "shank": ((0.06, 0.33), (-0.06, 0.16)),
            "paw": ((-0.06, 0.16), (0.0, 0.0)),
        },
    )
    topologies = linkage.topologies(leg, links=4, joints=6)
    assert [len(each.actuator_sets()) for each in topologies] == [10, 18, 0]
    assert all(each.mobility() == 3 for each in topologies)
    topology = topologies[1]
    motors = ("j1", "j2", "j4")
    phase = np.linspace(0, 2 * np.pi, 8)
    trot = np.column_stack(
        [0.3 * np.sin(phase), 0.25 * np.sin(phase + 1) - 0.2, 0.2 * np.sin(phase + 2)]
    )  # [rad]
    parameters = linkage.pin_parameters(topology)
    low, high = np.array([(each.low, each.high) for each in parameters]).T
    designs = np.random.default_rng(0).uniform(low, high, (60, len(parameters)))
    motion = linkage.follow_postures(topology, designs, trot, margin=0.05)
    screening = linkage.screen(motion, motors)
    assert 5 < screening.ok.sum() < 60
    best = int(np.argmax(np.where(screening.ok, screening.strength, 0.0)))
    places = [list(topology.joints).index(joint) for joint in motors]
    by_numpy = np.linalg.svd(motion.rates[best][:, places], compute_uv=False)[:, -1].min()
    assert screening.strength[best] == pytest.approx(by_numpy, rel=1e-12)
    machine = linkage.add_joint_motors(
        mechanism.system(linkage.linkage_mechanism(topology, designs[best], masses={"paw": 0.3})),
        linkage.joint_angles(topology),
    )
    begin = {joint: float(angles[best, 0]) for joint, angles in linkage.carrying_angles(motion).items()}
    begin |= dict(zip(leg.joints, trot[0].tolist(), strict=True))
    run = strut.simulate(machine.using({f"{joint}_motor_torque": 0.3 for joint in motors}), 0.2, x0=begin)
    assert run.status == "done"
    assert np.abs(run["closure_error"]).max() < 1e-8
    assert run.ledger.residual < 1e-6
