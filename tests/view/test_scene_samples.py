"""The scene of a run by frames: it is where the outputs say, it survives a file, and legs keep their names."""

import json
from dataclasses import replace

import casadi as ca
import h5py
import numpy as np
import pytest

import strut
from strut import Mechanism, contact, joints, walkers
from strut.errors import ModelError, StorageError, StrutError, UnknownNameError
from strut.mechanism import shapes
from strut.simulate import scene_file as staged_file
from strut.system import Scene
from strut.view.motion import film
from strut.view.motion import frames as staged

SINGLE = 1e-6  # of single precision, on metres


@pytest.fixture(scope="module")
def walk(compass):
    return compass


def test_sampled_parts_are_the_outputs(walk):
    stage = walk.stage()
    assert len(stage.t) == 601
    legs = {piece.name: piece.values for piece in stage.pieces}
    moments = walk.at(stage.t)
    for leg, end in (("stance_leg", "start"), ("swing_leg", "end")):
        foot = leg.replace("leg", "foot")
        np.testing.assert_allclose(legs[leg][end][:, 0], moments[f"{foot}_x"], atol=1e-12)
        np.testing.assert_allclose(legs[leg][end][:, 2], moments[f"{foot}_z"], atol=1e-12)
    np.testing.assert_allclose(legs["stance_leg"]["end"], legs["swing_leg"]["start"], atol=1e-12)  # the hip
    np.testing.assert_allclose(
        stage.com[:, [0, 2]], np.column_stack([moments["com_x"], moments["com_z"]]), atol=1e-12
    )
    np.testing.assert_allclose(stage.pushes[0].force[:, 2] * np.cos(walk["slope"]) + stage.pushes[0].force[:, 0] * np.sin(walk["slope"]),
                               moments["stance_normal"], rtol=1e-9)  # fmt: skip


def test_a_wheel_and_its_hub():
    run = strut.simulate(walkers.rimless_wheel(), t=5)
    stage = run.stage(rate=30)
    moments = run.at(stage.t)
    hub = next(piece for piece in stage.pieces if piece.name == "hub").values["at"]
    np.testing.assert_allclose(
        hub[:, [0, 2]], np.column_stack([moments["hub_x"], moments["hub_z"]]), atol=1e-12
    )
    places = np.unique(np.round(moments["foot_x"], 9))
    np.testing.assert_allclose(np.sort(stage.prints[:, 1]), places, atol=1e-8)


def test_footprints_are_where_feet_landed(walk):
    stage = walk.stage()
    assert len(stage.prints) == 1 + walk.events.counts()["heel_strike"]
    landed = [walk.at(t)["stance_foot_x"] for t in walk.events.times("heel_strike")]
    np.testing.assert_allclose(stage.prints[1:, 1], landed, atol=1e-9)
    ground = -np.tan(walk["slope"]) * stage.prints[:, 1]
    np.testing.assert_allclose(stage.prints[:, 3], ground, atol=1e-9)


def test_ground_follows_the_slope(walk):
    land = walk.stage().land
    assert len(land.x) == 2
    np.testing.assert_allclose(land.height[0], -np.tan(walk["slope"]) * land.x, atol=1e-12)


def block(ground):
    m = Mechanism("block", planar=True)
    body = m.body("block", 1.0, inertia=0.01)
    m.joint("base", m.world, body, joints.planar("y"), actuated=False, initial=(0, 0.3, 0))
    m.shape(body, shapes.box((0.2, 0.1, 0.2), colour="#336699"))
    m.frame("foot", body, (0, 0, -0.1))
    return strut.simulate(contact.rigid(m, ["foot"], ground), t=0.2)


def test_steps_have_sharp_edges():
    land = block(contact.stairs([(0.25, 0.1), (0.5, -0.2)])).stage().land
    for edge, low, high in ((0.25, 0.0, 0.1), (0.5, 0.1, -0.1)):
        near = np.abs(land.x - edge) < 1e-6
        assert near.sum() == 2  # both sides
        np.testing.assert_allclose(land.height[0][near], [low, high], atol=1e-12)
    assert len(land.x) == 6


def test_uneven_ground_is_a_grid():
    hills = contact.profile(lambda x, y: 0.1 * ca.sin(x) * ca.cos(y))
    land = block(hills).stage().land
    X, Y = np.meshgrid(land.x, land.y)
    np.testing.assert_allclose(land.height, 0.1 * np.sin(X) * np.cos(Y), atol=1e-12)


def test_a_leg_keeps_its_name_through_steps(walk):
    stage = staged.sample_frames(walk)
    names = [piece.name for piece in stage.pieces]
    assert {"right_leg", "left_leg"} <= set(names)
    for piece in stage.pieces:
        if "start" in piece.values:
            middle = (piece.values["start"] + piece.values["end"]) / 2
            assert (
                np.linalg.norm(np.diff(middle, axis=0), axis=1).max() < 0.05
            )  # [m] in a sixtieth of a second: no leg jumps
    raw = walk.stage().pieces[0].values
    middle = (raw["start"] + raw["end"]) / 2
    assert np.linalg.norm(np.diff(middle, axis=0), axis=1).max() > 0.2  # what it was for


@pytest.mark.parametrize("make", [walkers.kneed, walkers.round_foot, walkers.simplest])
def test_so_do_all_that_swap(make):
    stage = staged.sample_frames(strut.simulate(make(), t=5))
    for piece in stage.pieces:
        middle = (
            piece.values["at"] if "at" in piece.values else (piece.values["start"] + piece.values["end"]) / 2
        )
        assert np.linalg.norm(np.diff(middle, axis=0), axis=1).max() < 0.08


def named_at_will():
    """Two straight legs of a compass gait, called by nothing that means anything."""
    axis = (0.0, -1.0, 0.0)
    m = Mechanism("stilts", planar=True)
    slider, carriage, one, hip, two = (
        m.body("slider"),
        m.body("carriage"),
        m.body("anna", 5.0, (0, 0, 0.5)),
        m.body("pelvis", 10.0),
        m.body("berta", 5.0, (0, 0, -0.5)),
    )
    m.joint("sx", m.world, slider, joints.prismatic("x"), actuated=False)
    m.joint("sz", slider, carriage, joints.prismatic("z"), actuated=False)
    m.joint(
        "a",
        carriage,
        one,
        joints.revolute(axis),
        initial=0.218668802939,
        rate=-1.092383589884,
        actuated=False,
    )
    m.joint("level", one, hip, joints.gear("a", -1.0, of=joints.revolute(axis)), at=(0, 0, 1))
    m.joint(
        "b", hip, two, joints.revolute(axis), initial=-0.323388558059, rate=-0.377373948907, actuated=False
    )
    m.frame("toe_a", one)
    m.frame("toe_b", two, (0, 0, -1))
    m.frame("middle", hip)
    legs = contact.Legs(("sx", "sz"), "toe_a", "toe_b", {"a": "b", "b": "a"}, "middle", fall=0.5)
    return contact.stepping(m, legs, contact.plane(0.0523598775598))


def test_legs_of_any_name_are_followed(tmp_path):
    """What swaps is found from where the parts are: nothing is guessed from the names of legs."""
    machine = named_at_will()
    assert machine.scene.swaps == {"anna": "berta"}
    assert strut.join("two", strut.add_prefix(machine, "m")).scene.swaps == {"m.anna": "m.berta"}
    run = strut.simulate(machine, t=3)
    assert len(run.events.times("heel_strike")) > 2
    loaded = strut.Trajectory.load(run.save(tmp_path / "run.h5"))
    for each in (run, loaded):
        pieces = {piece.name: piece for piece in staged.sample_frames(each).pieces}
        assert [pieces[n].side for n in ("anna", "berta", "pelvis")] == ["right", "left", ""]
        assert staged.colour(pieces["anna"]) != staged.colour(pieces["berta"])
        middle = (pieces["anna"].values["start"] + pieces["anna"].values["end"]) / 2
        assert np.linalg.norm(np.diff(middle, axis=0), axis=1).max() < 0.1


def test_sides_and_swaps_are_checked():
    rod = strut.system.rod("leg", (0, 0), (0, 1), 0.1)
    with pytest.raises(ModelError, match="the part 'leg' is on the side 'port': allowed are 'left', 'right'"):
        replace(rod, side="port")
    with pytest.raises(UnknownNameError, match="the scene swaps a part 'leg2': did you mean 'leg'"):
        Scene((rod,), swaps={"leg": "leg2"})


def test_points_stand_in_for_a_scene():
    x, v = strut.State("x", 0.0), strut.State("v", 1.0)
    outputs = {"cart_x": x.sym, "cart_z": 0.0, "tip_x": x.sym + 1, "tip_z": 1.0}
    scene = Scene(points={"cart": ("cart_x", "cart_z"), "tip": ("tip_x", "tip_z")})
    cart = strut.System("cart", x=(x, v), flow={x: v.sym, v: -x.sym}, outputs=outputs, scene=scene)
    run = strut.simulate(cart, t=2)
    assert run.stage() is None
    stage = staged.sample_frames(run)
    assert [(piece.name, piece.kind) for piece in stage.pieces] == [
        ("cart-tip", "capsule"),
        ("cart", "sphere"),
        ("tip", "sphere"),
    ]
    np.testing.assert_allclose(stage.pieces[1].values["at"][:, 0], np.sin(stage.t), atol=1e-8)


def test_nothing_to_see_is_said():
    run = strut.simulate(walkers.van_der_pol(), t=1)
    assert staged.sample_frames(run) is None
    with pytest.raises(StrutError, match="there is nothing to see of 'van_der_pol': give its System a scene"):
        run.animate("x.html")


def test_a_file_keeps_the_scene(walk, tmp_path):
    path = walk.save(tmp_path / "walk.h5")
    loaded = strut.Trajectory.load(path)
    assert loaded.system is None
    kept, whole = loaded.stage(), walk.stage(staged_file.STORED_RATE)
    np.testing.assert_array_equal(kept.t, whole.t)
    for a, b in zip(kept.pieces, whole.pieces, strict=True):
        assert (a.name, a.kind, a.colour, a.path) == (b.name, b.kind, b.colour, b.path)
        for name in b.values:
            np.testing.assert_allclose(
                a.values[name], b.values[name], atol=SINGLE * 10
            )  # a walk of some metres
    np.testing.assert_allclose(kept.pushes[0].force, whole.pushes[0].force, rtol=1e-6, atol=1e-4)
    np.testing.assert_array_equal(kept.prints, whole.prints)
    np.testing.assert_array_equal(kept.land.height, whole.land.height)
    assert path.stat().st_size < 400_000
    with_system = strut.Trajectory.load(path, system=walkers.compass())
    assert len(with_system.stage().t) == 601


@pytest.mark.parametrize(
    "spoil",
    [
        lambda layout: layout["pieces"][0].update(kind="cone"),
        lambda layout: layout["pushes"].extend(["more"] * 9),
        lambda layout: layout["pieces"][0].update(columns={"start": 3}),
        lambda layout: layout.pop("com"),
    ],
)
def test_a_damaged_scene_is_said(walk, tmp_path, spoil):
    path = walk.save(tmp_path / "walk.h5")
    with h5py.File(path, "r+") as file:
        layout = json.loads(file["scene"].attrs["layout"])
        spoil(layout)
        file["scene"].attrs["layout"] = json.dumps(layout)
    with pytest.raises(StorageError, match="it is damaged"):
        strut.Trajectory.load(path)


def test_film_is_the_run(walk):
    picture = film.film(walk)
    stage = staged.sample_frames(walk, film.PAGE_FRAME_RATE)
    json.dumps(picture, allow_nan=False)
    for drawn, piece in zip(picture["pieces"], stage.pieces, strict=True):
        for name, values in piece.values.items():
            level = np.ptp(values, axis=0).max() / film.FILM_LEVELS  # whole ones are kept, so half is lost
            np.testing.assert_allclose(film.rows(drawn["values"][name]), values, atol=SINGLE * 10 + level / 2)
    np.testing.assert_allclose(film.rows(picture["t"])[:, 0], stage.t, atol=1e-6)
    assert not picture["still"]
    centre, com = film.rows(picture["centre"]), stage.com
    assert np.abs(centre - com)[:, 0].max() < picture["window"][0] / 2  # never out of sight
    low, high = stage.extents
    assert np.all(centre - np.array(picture["window"]) / 2 <= low + 1e-5)
    assert np.all(centre + np.array(picture["window"]) / 2 >= high - 1e-5)


def test_film_stands_still_for_what_stays():
    assert film.film(strut.simulate(walkers.pendulum(), t=3))["still"]


def test_broken_frames_are_left_out(walk):
    short = replace(walk, p=np.where(np.arange(len(walk.p)) == 0, np.nan, walk.p))
    assert short.stage() is None
