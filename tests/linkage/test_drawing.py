"""Names in drawings of linkages and graphs: each can be read, and is beside what it names."""

import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np
import pytest

from strut import linkage
from strut.linkage.labels import Labels
from strut.studies import exoskeleton_pictures, known_exoskeletons

SVG = "{http://www.w3.org/2000/svg}"
TOPOLOGIES = {each.text(): each for each in linkage.topologies(linkage.human_leg(), 4, 6)}
LINE_PARTS = np.linspace(0, 1, 200)[:, None]


def numbers(element, *names):
    return np.array([float(element.get(name)) for name in names])


def text_boxes(drawn):
    """Boxes around letters, by name, as low and high corners: 0.6 of the size wide each, about."""
    boxes = {}
    for text in drawn.iter(f"{SVG}text"):
        assert text.get("text-anchor") == "middle"
        x, y, size = numbers(text, "x", "y", "font-size")
        half = 0.3 * size * len(text.text)
        assert text.text not in boxes
        boxes[text.text] = np.array([(x - half, y - 0.74 * size), (x + half, y + 0.2 * size)])
    return boxes


def check_names(markup, named):
    """Names are there once, in the picture, and cover neither each other nor discs of others nor lines that
    have a name."""
    drawn = ET.fromstring(markup)
    boxes = text_boxes(drawn)
    assert boxes.keys() == set(named)
    view_box = np.array([float(word) for word in drawn.get("viewBox").split()])
    low, high = view_box[:2], view_box[:2] + view_box[2:]
    for (a, one), (b, other) in combinations(boxes.items(), 2):
        assert not ((one[0] < other[1]) & (other[0] < one[1])).all(), f"{a} and {b} overlap"
    discs = [(numbers(disc, "cx", "cy"), float(disc.get("r"))) for disc in drawn.iter(f"{SVG}circle")]
    lines = [line for line in drawn.iter(f"{SVG}line") if line.find(f"{SVG}title") is not None]
    for name, box in boxes.items():
        assert (box[0] > low).all(), name
        assert (box[1] < high).all(), name
        for centre, radius in discs:
            own = (np.abs(box.mean(axis=0) - centre) < 1).all()  # a link of a graph has its name in its disc
            assert own or np.linalg.norm(np.clip(centre, *box) - centre) > radius, f"{name} covers a disc"
        if name in linkage.human_leg().bodies:
            continue  # in a box, which is over lines
        for line in lines:
            begin, end = numbers(line, "x1", "y1"), numbers(line, "x2", "y2")
            points = begin + LINE_PARTS * (end - begin)
            hidden = ((points > box[0]) & (points < box[1])).all(axis=1) & ~in_discs(points, discs)
            assert not hidden.any(), f"{name} covers {line.find(f'{SVG}title').text}"


def in_discs(points, discs):
    return np.any([np.linalg.norm(points - centre, axis=1) < radius for centre, radius in discs], axis=0)


@pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=TOPOLOGIES)
def test_names_of_all_linkages_of_a_leg_can_be_read(topology):
    names = [*topology.links, *topology.joints]
    for actuators in ((), ("j1", "j5")):
        check_names(linkage.draw_linkage(topology, actuators=actuators), names)
        check_names(
            linkage.draw_graph(topology, actuators=actuators),
            [*topology.parts, *topology.joints, *topology.limb.joints],
        )


@pytest.mark.parametrize("kind", ["known", "refined", "rigid"])
def test_names_of_exoskeletons_of_the_package_can_be_read(kind):
    for name, design in getattr(known_exoskeletons, f"{kind}_exoskeletons")().items():
        topology, actuators = design.group.topology, design.group.actuators
        drawn = linkage.draw_linkage(topology, np.reshape(design.pins, (1, -1)), name, actuators)
        assert drawn == linkage.draw_linkage(topology, np.reshape(design.pins, (1, -1)), name, actuators)
        check_names(drawn, [*topology.links, *topology.joints])


@pytest.mark.parametrize("kind", ["known", "longer", "refined"])
def test_names_of_the_rival_can_be_read(kind):
    drawn = exoskeleton_pictures.draw_rival(getattr(known_exoskeletons, f"{kind}_rival")().parameters)
    bars = ("thigh bar", "shank bar", "thigh cuff", "shank cuff")
    check_names(drawn.svg, [*bars, *exoskeleton_pictures.RIVAL_MOTORS])


def test_a_name_without_room_has_a_leader():
    """Beside a point between two wide lines there is no room: the name is where they end, and a line that is
    in nobody's way leads to it."""
    labels = Labels()
    for y in (-10.0, 10.0):
        labels.avoid_line((-40.0, y), (12.0, y), 8.0, "other")
    labels.avoid_disc((0.0, 0.0), 4.0)
    drawn = ET.fromstring(f"<svg>{labels.place('pin', [np.zeros(2)], '#000', 10, gap=7.0)}</svg>")
    (text,), (leader,) = drawn.iter("text"), drawn.iter("line")
    assert float(text.get("x")) > 12
    np.testing.assert_allclose(numbers(leader, "x1", "y1", "y2"), 0, atol=1e-9)


def test_a_name_is_nearest_to_what_it_names():
    """Where two lines cross, neither name is beside the other's line."""
    labels = Labels()
    ends = {"rising": ((-40.0, 40.0), (40.0, -40.0)), "falling": ((-40.0, -40.0), (40.0, 40.0))}
    points = {}
    for name, (begin, end) in ends.items():
        labels.avoid_line(begin, end, 4.0, name)
        points[name] = np.array(begin) + LINE_PARTS * np.subtract(end, begin)
    for name, own in points.items():
        anchors = [own[round(share * 199)] for share in (0.5, 0.4, 0.6, 0.3, 0.7)]
        drawn = ET.fromstring(f"<svg>{labels.place(name, anchors, '#000', 10)}</svg>")
        box = labels.corners[-2:]
        nearest = {
            line: np.linalg.norm(np.clip(own_points, *box) - own_points, axis=1).min()
            for line, own_points in points.items()
        }
        assert len(list(drawn.iter("text"))) == 1
        assert min(nearest, key=nearest.get) == name
