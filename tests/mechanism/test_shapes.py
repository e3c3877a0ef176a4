"""How bodies look: shapes with symbols, from URDF, guessed, and of people."""

from xml.etree import ElementTree

import numpy as np
import pytest

from strut import Param
from strut.errors import ModelError, UnknownNameError
from strut.mechanism import Mechanism, default_shapes, joints, shapes, urdf
from strut.mechanism.io.names import ReadWarning
from strut.mechanism.spatial import rotation_of_rpy
from strut.walkers.anthropometry import SEGMENTS, segment
from strut.walkers.coman import coman_mechanism
from tests.mechanism.test_urdf import ROBOT


def leg():
    m = Mechanism("leg")
    length, width = Param("length", 0.4, "m", bounds=(0.1, 1)), Param("width", 0.05, "m")
    thigh = m.body("thigh", 5.0, (0, 0, -length / 2), 0.1)
    m.joint("hip", m.world, thigh, joints.revolute())
    m.shape(
        thigh,
        shapes.capsule((0, 0, 0), (0, 0, -length), width, "#ff0000"),
        shapes.sphere(2 * width, (0, 0.1, -length)),
        shapes.box((0.1, width, 0.2), rotation=rotation_of_rpy([0.1, 0.2, 0.3]), colour=(0, 0, 1, 0.5)),
        shapes.cylinder((0, 0, 0), (0.1, 0, 0.1), 0.02),
        shapes.ellipsoid((0.1, 0.2, 0.3)),
        shapes.arc(length, (0, 0, 0), -0.3, 0.4),
        shapes.mesh("thigh.stl", 0.001),
    )
    return m


def test_sizes_follow_parameters():
    m = leg()
    assert {p.name for p in m.params.values()} == {"g", "length", "width"}
    for p, length in ((None, 0.4), ({"length": 0.7}, 0.7)):
        capsule, sphere, box, _, _, arc, mesh = shapes.in_numbers(m, p)["thigh"]
        np.testing.assert_allclose(capsule.end, (0, 0, -length))
        np.testing.assert_allclose(sphere.at, (0, 0.1, -length))
        assert capsule.radius == 0.05
        assert sphere.radius == 0.1
        assert arc.radius == length
        np.testing.assert_allclose(mesh.scale, (0.001, 0.001, 0.001))
        np.testing.assert_allclose(box.rotation @ box.rotation.T, np.eye(3), atol=1e-15)
    assert m.shapes["thigh"][0].colour == (1.0, 0.0, 0.0, 1.0)
    assert m.shapes["thigh"][2].colour == (0, 0, 1, 0.5)


def surface(shape):
    """Points of a shape, in the body."""
    if isinstance(shape, shapes.Capsule):
        return np.array([shape.start, shape.end])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    size = shape.size / 2 if isinstance(shape, shapes.Box) else shape.scale
    return corners * size @ shape.rotation.T + shape.at


def test_images_in_the_mirror():
    R = rotation_of_rpy([0.3, -0.2, 0.5])
    m = Mechanism("m")
    m.joint("j_l", m.world, m.body("b_l", 1.0, inertia=1.0), joints.revolute())
    looks = [
        shapes.capsule((0.1, 0.2, 0.3), (0, 1, 0), 0.1),
        shapes.box((0.1, 0.2, 0.3), (1, 2, 3), R),
        shapes.mesh("m.stl", (1, 2, 3), (0, 1, 0), R),
    ]
    m.shape(m.bodies["b_l"], *looks)
    m.mirror()
    numbers = shapes.in_numbers(m)
    for left, right in zip(numbers["b_l"], numbers["b_r"], strict=True):
        here, there = surface(left) * [1, -1, 1], surface(right)
        if isinstance(left, shapes.Mesh):
            np.testing.assert_allclose(
                here, there, atol=1e-15
            )  # point by point: a mesh knows left from right
        for point in here:
            assert np.abs(there - point).max(axis=1).min() < 1e-14


VISUAL = ROBOT.replace(
    '<link name="tool"/>',
    """<material name="blue"><color rgba="0 0 1 1"/></material>
    <link name="tool"><visual><origin xyz="0 0 0.1" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.1" length="0.4"/></geometry><material name="blue"/></visual>
    <visual><geometry><box size="1 2 3"/></geometry><material name="red"><color rgba="1 0 0 0.5"/></material></visual>
    <visual><geometry><sphere radius="0.2"/></geometry></visual>
    <visual><origin xyz="1 2 3"/><geometry><mesh filename="package://tool.dae" scale="1 1 2"/></geometry></visual></link>""",
)


def test_visuals_of_urdf():
    m = urdf.parse(VISUAL)
    cylinder, box, sphere, mesh = shapes.in_numbers(m)["tool"]
    np.testing.assert_allclose(cylinder.start, (-0.2, 0, 0.1), atol=1e-15)
    np.testing.assert_allclose(cylinder.end, (0.2, 0, 0.1), atol=1e-15)
    assert cylinder.colour == (0, 0, 1, 1)
    assert box.colour == (1, 0, 0, 0.5)
    np.testing.assert_allclose(box.size, (1, 2, 3))
    assert sphere.radius == 0.2
    assert (mesh.path, mesh.at.tolist(), mesh.scale.tolist()) == ("package://tool.dae", [1, 2, 3], [1, 1, 2])
    again = shapes.in_numbers(urdf.parse(urdf.dump(m), base="fixed"))["tool"]
    for first, second in zip((cylinder, box, sphere, mesh), again, strict=True):
        assert type(first) is type(second)
        assert first.colour == second.colour
        for name, value in vars(first).items():
            if name not in ("colour", "path"):
                np.testing.assert_allclose(getattr(second, name), value, atol=1e-12, err_msg=name)


def test_capsules_in_urdf():
    """A capsule becomes what URDF has: a cylinder and two spheres at its ends."""
    parts = shapes.in_numbers(urdf.parse(urdf.dump(leg())))["thigh"]
    assert [type(p).__name__ for p in parts] == [
        "Cylinder",
        "Sphere",
        "Sphere",
        "Sphere",
        "Box",
        "Cylinder",
        "Mesh",
    ]
    np.testing.assert_allclose([parts[0].start, parts[0].end], [(0, 0, 0), (0, 0, -0.4)], atol=1e-15)
    np.testing.assert_allclose([parts[1].at, parts[2].at], [(0, 0, 0), (0, 0, -0.4)], atol=1e-15)
    np.testing.assert_allclose(parts[5].end, (0.1, 0, 0.1), atol=1e-15)
    assert parts[2].colour == (1, 0, 0, 1)


def test_pinocchio_reads_our_visuals(tmp_path):
    pin = pytest.importorskip("pinocchio")
    text = urdf.dump(
        urdf.parse(
            VISUAL.replace('<mesh filename="package://tool.dae" scale="1 1 2"/>', '<sphere radius="1"/>')
        )
    )
    (tmp_path / "r.urdf").write_text(text)
    model = pin.buildModelFromXML(text)
    geometry = pin.buildGeomFromUrdf(model, str(tmp_path / "r.urdf"), pin.GeometryType.VISUAL)
    assert geometry.ngeoms == 4


def test_a_guess_for_bodies_without_shapes():
    m = leg()
    shank = m.body("shank", 3.0, (0, 0, -0.2), 0.05)
    length = next(p for p in m.params.values() if p.name == "length")
    m.joint("knee", m.bodies["thigh"], shank, joints.revolute(), at=(0, 0, -length))
    m.frame("heel", shank, (-0.05, 0, -length))
    m.frame("heel_again", shank, (-0.05, 0, -0.4))
    m.frame("knee_cap", shank, (0, 0, 0))
    found = default_shapes(m)
    assert set(found) == {"shank"}
    assert len(found["shank"]) == 1
    m.shape(shank, *found["shank"])
    np.testing.assert_allclose(shapes.in_numbers(m, {"length": 0.6})["shank"][0].end, (-0.05, 0, -0.6))
    assert default_shapes(m) == {}
    del m.frames["heel"], m.frames["heel_again"], m.shapes["shank"]
    assert m.values(default_shapes(m)["shank"][0].end).reshape(-1).tolist() == [
        0,
        0,
        -0.4,
    ]  # twice to its centre of mass


def test_a_mass_without_extent_is_a_ball():
    m = Mechanism("bob")
    m.joint("thread", m.world, m.body("thread"), joints.revolute())
    bob = m.body("bob", 2.0)
    m.joint("knot", m.bodies["thread"], bob, joints.fixed(), at=(0, 0, -1.5))
    m.joint("hook", bob, m.body("hook"), joints.fixed())
    found = default_shapes(m)
    assert set(found) == {"thread", "bob"}  # a hook without mass is nothing to see
    (ball,) = found["bob"]
    assert float(ball.radius) == pytest.approx(
        shapes.BALL_TO_CAPSULE_RADIUS * shapes.CAPSULE_RADIUS_SHARE * 1.5
    )
    assert float(found["thread"][0].radius) == pytest.approx(shapes.CAPSULE_RADIUS_SHARE * 1.5)


def test_coman_has_a_look():
    m = coman_mechanism()
    found = default_shapes(m)
    for body, looks in found.items():
        m.shape(m.bodies[body], *looks)
    numbers = shapes.in_numbers(m)
    assert {"waist", "torso", "r_shank", "l_foot", "l_elbow_link"} <= set(numbers)
    np.testing.assert_allclose(numbers["r_shank"][0].end, (0, 0, -0.201))
    _, plate = numbers["l_foot"]  # five frames under it, in one box
    np.testing.assert_allclose(plate.at[:2], (0.035, 0), atol=1e-12)
    np.testing.assert_allclose(plate.at[2] - plate.size[2] / 2, -0.0793, atol=1e-12)
    told = sum(3 if isinstance(shape, shapes.Capsule) else 1 for looks in numbers.values() for shape in looks)
    assert len(ElementTree.fromstring(urdf.dump(m)).findall("link/visual")) == told


def test_people_have_a_look():
    m = Mechanism("person")
    stature = Param("stature", 1.77, "m")
    for name in SEGMENTS:
        s = segment(name, stature, 70.0)
        body = m.body(name, s.mass, s.com, s.inertia)
        m.joint(f"j_{name}", m.world, body, joints.fixed())
        m.shape(body, s.shape("#ddbb99"))
    looks = {name: found[0] for name, found in shapes.in_numbers(m).items()}
    assert looks["thigh"].end[2] == pytest.approx(-0.432)
    assert 0.06 < looks["thigh"].radius < 0.12  # [m], of a person
    assert 0.04 < looks["shank"].radius < 0.08
    assert looks["head"].end[2] == pytest.approx(0.244)
    assert looks["foot"].end[0] == pytest.approx(0.183)
    assert shapes.in_numbers(m, {"stature": 3.54})["thigh"][0].end[2] == pytest.approx(-0.864)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: shapes.sphere((1, 2)), "the radius of a sphere has 2 numbers"),
        (lambda m: shapes.capsule((0, 0), (0, 0, 1), 0.1), "the start of a capsule has shape"),
        (lambda m: shapes.sphere(1, colour="red"), "the colour 'red' is none: write '#rrggbb'"),
        (lambda m: shapes.sphere(1, colour=(0, 0, 2)), "the colour"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ModelError, match=message):
        make(None)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("box size", "cone size", "URDF: a visual of link 'tool' is a <cone>.*; this visual is left out"),
        ('<sphere radius="0.2"/>', "", "URDF: a visual of link 'tool' has 0 shapes"),
        ('radius="0.2"', 'radius="big"', "URDF: a visual of link 'tool': radius is 'big'"),
    ],
)
def test_a_visual_that_is_none_is_left_out_with_a_warning(right, wrong, message):
    whole = len(urdf.parse(VISUAL).shapes["tool"])
    with pytest.warns(ReadWarning, match=message):
        m = urdf.parse(VISUAL.replace(right, wrong))
    assert len(m.shapes["tool"]) == whole - 1


def test_shapes_belong_to_bodies():
    with pytest.raises(UnknownNameError, match="a shape is given to 'thigh', which is no body of 'other'"):
        Mechanism("other").shape(leg().bodies["thigh"], shapes.sphere(1))
