"""Pictures: what is drawn is what is there, in every format, and what is missing is said."""

import html
import io
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import strut
from strut import Mechanism, joints, view, walkers
from strut.errors import MissingExtraError, StorageError, UnknownNameError, ValueRangeError
from strut.mechanism import shapes
from strut.view.motion import flat, meshes, player, svg
from strut.view.motion import frames as staged
from strut.view.pages import sheet
from tests.view.test_page import EVIL, Elements

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def short():
    return strut.simulate(walkers.compass(), t=0.5)


# ---- the player ----


def test_player_is_small_and_alone(compass, tmp_path):
    path = compass.animate(tmp_path / "walk.html")
    assert path.stat().st_size < 5_000_000
    seen = Elements(path.read_text(encoding="utf-8"))
    assert not [
        tag for tag, a in seen.tags if {"src", "href", "srcset"} & set(a) or tag in ("link", "iframe", "base")
    ]
    policy = next(a["content"] for _, a in seen.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "unsafe-inline" not in policy
    assert seen.data("film")["planar"] is True


def test_the_library_comes_with_its_licence():
    assert "MIT" in sheet.part("three.LICENSE")
    assert "three.js" in sheet.part("three.js")[:200]
    assert "</script" not in sheet.part("three.js")


def test_names_are_not_html(compass):
    scene = compass.system.scene.with_expressions(lambda e: e, lambda name: EVIL + name)
    system = replace(compass.system, scene=replace(scene, points={}))  # whose outputs keep their names
    evil, plain = (
        Elements(player.document(run, title=title))
        for run, title in ((replace(compass, system=system), EVIL), (compass, "x"))
    )
    assert [tag for tag, _ in evil.tags] == [tag for tag, _ in plain.tags]
    assert evil.data("film")["pieces"][0]["name"].startswith(EVIL)
    assert len(evil.scripts) == 3
    frame = Elements(compass.animate()._repr_html_())
    assert [tag for tag, _ in frame.tags] == ["iframe"]


def test_a_loaded_run_is_animated(short, tmp_path):
    loaded = strut.Trajectory.load(short.save(tmp_path / "a.h5"))
    assert loaded.animate(tmp_path / "a.html").exists()
    assert loaded.animate(tmp_path / "a.gif", fps=10, width=160, height=100).exists()


def test_options_belong_to_a_kind_of_picture(compass, tmp_path):
    with pytest.raises(
        UnknownNameError,
        match=r"a player \(\.html\).* has no option 'width': known: autoplay; \.gif, \.mp4 and frames",
    ):
        compass.animate(tmp_path / "w.html", width=320, height=200)
    with pytest.raises(UnknownNameError, match="no option 'autoplya': did you mean 'autoplay'"):
        compass.animate(autoplya=False)
    with pytest.raises(UnknownNameError, match=r"a film \(\.gif\) has no option 'autoplay'"):
        compass.animate(tmp_path / "w.gif", autoplay=False)
    assert not list(tmp_path.iterdir())


def test_unknown_formats_are_said(short, tmp_path):
    with pytest.raises(StorageError, match=r"use \.html, \.gif, \.mp4, or frames as name%d\.png"):
        short.animate(tmp_path / "walk.avi")
    with pytest.raises(StorageError, match="frames need a number in their name"):
        short.animate(tmp_path / "walk.png")
    with pytest.raises(StorageError, match=r"use \.svg or \.png"):
        view.still(short, tmp_path / "walk.jpg")


# ---- flat pictures ----


def test_still_shows_the_legs_where_they_are(compass, tmp_path):
    path = view.still(compass, tmp_path / "still.svg", t=3.0)
    root = ElementTree.parse(path).getroot()
    assert root.find(f"{SVG}title").text == "compass at 3 s"
    stage = staged.sample_frames(compass)
    k = int(np.argmin(np.abs(stage.t - 3.0)))
    low, high = svg.window(stage, k, 800 / 500)
    by_colour = {e.get("fill"): e.get("points") for e in root.iter(f"{SVG}polygon")}
    for piece in stage.pieces:
        if "start" not in piece.values:
            continue
        drawn = np.array(
            [[float(v) for v in p.split(",")] for p in by_colour[staged.colour(piece)[0]].split()]
        )
        places = np.column_stack([drawn[:, 0], 500 - drawn[:, 1]]) * (high[0] - low[0]) / 800 + low
        ends = np.array([piece.values[n][k][[0, 2]] for n in ("start", "end")])
        radius = piece.values["radius"][k, 0]
        np.testing.assert_allclose(
            places.min(axis=0), ends.min(axis=0) - radius, atol=2e-3
        )  # a 32-gon, in hundredths of a pixel
        np.testing.assert_allclose(places.max(axis=0), ends.max(axis=0) + radius, atol=2e-3)


def test_stick_figure_goes_from_foot_to_foot(compass, tmp_path):
    stage = staged.require_frames(compass, 240.0)
    begin, end = svg.last_step(stage, compass)
    steps = compass.events.times("heel_strike")
    assert begin == pytest.approx(steps[-2], abs=1 / 240)
    assert end == pytest.approx(steps[-1], abs=1 / 240)
    path = view.stick_figure(compass, tmp_path / "strip.svg", poses=7)
    lines = list(ElementTree.parse(path).getroot().iter(f"{SVG}polyline"))
    pieces, balls = len(stage.pieces), sum(piece.kind == "sphere" for piece in stage.pieces)
    assert (
        len(lines) == 7 * (pieces - balls) + 2 * balls + 2
    )  # the path of the centre of mass, and the ground
    assert sum(line.get("stroke-width") == "2.5" for line in lines) == 2 * pieces
    with pytest.raises(ValueRangeError, match="a strip of 9 poses from 3 to 99 s cannot be drawn"):
        view.stick_figure(compass, tmp_path / "strip.svg", between=(3, 99))


def test_svg_escapes_names(short, tmp_path):
    path = view.still(replace(short, system_name=EVIL), tmp_path / "evil.svg")
    assert html.escape(EVIL) in path.read_text()
    assert {e.tag for e in ElementTree.parse(path).iter()} <= {
        SVG + n for n in ("svg", "title", "rect", "polygon", "polyline")
    }


def every_shape(path=""):
    m = Mechanism("shapes")
    body = m.body("body", 1.0, inertia=0.1)
    m.joint("turn", m.world, body, joints.revolute((0.6, 0.8, 0)), rate=2.0)
    m.shape(
        body,
        shapes.sphere(0.1, (0, 0, 0.5)),
        shapes.capsule((0, 0, 0), (0.5, 0, 0), 0.05),
        shapes.cylinder((0, 0.2, 0), (0, 0.2, 0.4), 0.1),
        shapes.box((0.1, 0.2, 0.3), (0.3, 0.3, 0.3), colour=(1, 0, 0, 0.5)),
        shapes.ellipsoid((0.3, 0.1, 0.2), (0, -0.4, 0)),
        shapes.arc(0.4, width=0.1),
        shapes.mesh(str(path), 1.0, (0.5, 0.5, 0)),
    )
    return strut.simulate(strut.mechanism.system(m), t=1)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "box", "ellipsoid", "arc", "mesh"])
def test_outlines_lie_within_the_extents(kind):
    stage = every_shape().stage(rate=10)
    piece = next(p for p in stage.pieces if p.kind == kind)
    alone = replace(stage, pieces=(piece,))
    seen = flat.Eye(np.array([1.0, 0, 0]), np.array([0, 0, 1.0]))
    low, high = alone.extents
    slack = 0.03 * np.sqrt(3) + 1e-9 if kind == "mesh" else 1e-9  # of a mesh only the place is known
    for k in range(len(stage.t)):
        points = np.vstack([points for points, _ in flat.outlines(piece, k, seen)])
        assert np.all(points >= low[k, [0, 2]] - slack)
        assert np.all(points <= high[k, [0, 2]] + slack)
        if kind in ("box", "ellipsoid", "sphere"):
            np.testing.assert_allclose(points.min(axis=0), low[k, [0, 2]], atol=0.01)


def test_meshes_are_read_made_small_or_stood_in_for(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    ball = tmp_path / "ball.stl"
    trimesh.creation.icosphere(subdivisions=5, radius=0.3).export(ball)
    found = meshes.load(str(ball))
    assert not found.note
    assert 500 < len(found.faces) <= meshes.MAX_FACES
    np.testing.assert_allclose(np.linalg.norm(found.vertices, axis=1), 0.3, atol=1e-6)
    run = every_shape(ball)
    assert "mesh" in [p["kind"] for p in view.motion.film.film(run)["pieces"]]
    stage = staged.sample_frames(run)
    alone = replace(stage, pieces=tuple(p for p in stage.pieces if p.kind == "mesh"))
    assert np.all((alone.extents[1] - alone.extents[0]) >= 0.59)  # the camera sees all of it
    for path, why in (
        ("/nowhere/a.stl", "was not found"),
        ("package://robot/a.stl", "is not a file here"),
        ("http://x/a.stl", "not a file"),
    ):
        assert why in meshes.load(path).note
    bad = tmp_path / "bad.stl"
    bad.write_bytes(b"nothing of the kind")
    assert "A box stands for a mesh" in meshes.load(str(bad)).note
    assert "A box stands for a mesh" in Elements(player.document(every_shape(bad))).text


def test_meshes_of_a_robot_are_found_beside_it(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    robot = tmp_path / "robots" / "arm" / "urdf" / "arm.urdf"
    for place in (robot.parent, robot.parents[1] / "meshes"):
        place.mkdir(parents=True)
        trimesh.creation.box((0.1, 0.2, 0.3)).export(place / "link.stl")
    link = '<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry><mesh filename="{1}"/></geometry></visual></link>'
    names = ["link.stl", "package://arm/meshes/link.stl", "package://other/link.stl", "http://x/link.stl"]
    joints = [
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/><origin xyz="1 0 0"/></joint>'
        for k in range(3)
    ]
    robot.write_text(
        f'<robot name="arm">{"".join(link.format(f"l{k}", n) for k, n in enumerate(names))}{"".join(joints)}</robot>'
    )
    m = strut.mechanism.urdf.load(robot, base="fixed")
    paths = [m.shapes[f"l{k}"][0].path for k in range(4)]
    assert paths == [
        str(robot.parent / "link.stl"),
        str(robot.parents[1] / "meshes" / "link.stl"),
        *names[2:],
    ]
    picture = view.motion.film.film(strut.simulate(strut.mechanism.system(m), t=0.1))
    assert [mesh["standIn"] for mesh in picture["meshes"]] == [False, False, True, True]
    assert len(picture["notes"]) == 2
    stage = staged.sample_frames(strut.simulate(strut.mechanism.system(m), t=0.0))
    outline = np.vstack(
        [points for points, _ in flat.outlines(stage.pieces[0], 0, flat.Eye(np.eye(3)[0], np.eye(3)[2]))]
    )
    np.testing.assert_allclose(np.ptp(outline, axis=0), (0.1, 0.3), atol=1e-6)


# ---- pixels ----


def test_frames_and_films(short, tmp_path):
    images = pytest.importorskip("PIL.Image")
    files = short.animate(tmp_path / "walk%03d.png", fps=10, width=160, height=100)
    assert [f.name for f in files] == [f"walk{k:03d}.png" for k in range(6)]
    first, last = (np.asarray(images.open(f)) for f in (files[0], files[-1]))
    assert first.shape == (100, 160, 3)
    assert (first != last).any(axis=2).mean() > 0.02
    for shade in (
        strut.view.figures.plots.PALETTE[0],
        strut.view.figures.plots.PALETTE[1],
    ):  # both legs are there
        assert (
            np.abs(first.astype(int) - [int(shade[k : k + 2], 16) for k in (1, 3, 5)]).max(axis=2) < 12
        ).sum() > 40
    film = images.open(short.animate(tmp_path / "walk.gif", width=160, height=100, ghosts=2))
    assert film.n_frames == 13  # half a second, 25 a second, both ends
    assert film.info["duration"] == 40


def test_mp4(short, tmp_path):
    reader = pytest.importorskip("imageio_ffmpeg")
    path = short.animate(tmp_path / "walk.mp4", width=160, height=100, fps=20, speed=0.5)
    about = next(reader.read_frames(str(path)))
    assert about["size"] == (160, 100)
    assert about["duration"] == pytest.approx(1.05, abs=0.06)


@pytest.mark.parametrize(
    ("package", "name", "message"),
    [
        (
            "PIL",
            "a.gif",
            r"a picture of pixels needs Pillow, which is not installed: pip install 'strut\[view\]'",
        ),
        (
            "imageio_ffmpeg",
            "a.mp4",
            r"an MP4 needs imageio-ffmpeg, which is not installed: pip install 'strut\[film\]'",
        ),
    ],
)
def test_missing_packages_are_said(short, tmp_path, monkeypatch, package, name, message):
    for module in [*(n for n in sys.modules if n.split(".")[0] == package), package]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=message):
        short.animate(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    assert short.animate(tmp_path / "a.html").exists()  # which needs neither


def test_absurd_films_are_refused(short, tmp_path):
    with pytest.raises(ValueRangeError, match="cannot be made"):
        short.animate(tmp_path / "a.gif", speed=0)


def test_png_of_a_still(short, tmp_path):
    images = pytest.importorskip("PIL.Image")
    data = view.still(short, tmp_path / "a.png", width=320, height=200).read_bytes()
    assert images.open(io.BytesIO(data)).size == (320, 200)


def falling_apart():
    """Two balls, a metre apart, that fall thirty metres while they part to six."""
    from strut.system import Scene, ball

    high, away = strut.State("high", 0.0, "m"), strut.State("away", 1.0, "m")
    places = (-0.5 * away.sym, high.sym), (0.5 * away.sym, high.sym)
    parts = tuple(ball(name, place, 0.05) for name, place in zip("ab", places, strict=True))
    machine = strut.System("apart", x=(high, away), flow={"high": -10.0, "away": 5 / 3}, scene=Scene(parts))
    return strut.simulate(machine, t=3.0)


def test_a_machine_that_falls_apart_is_framed_by_its_first_pose():
    """It was a dot for most of its film, in a window for how far its parts are at the end."""
    stage = staged.sample_frames(falling_apart(), 30)
    centre, window, still = staged.camera(stage)
    assert not still
    low, high = stage.extents
    first = float((high - low)[0].max())
    assert first == pytest.approx(1.1, abs=0.01)
    assert stage.size == pytest.approx(6.1, abs=0.01)
    assert window[0] <= 2 * 2.3 * first
    assert flat.across(stage)[0] <= 2 * 2.3 * first
    # it is in the middle from the first frame to the last: the eye goes as fast as the machine does
    assert np.abs(centre - (low + high) / 2).max() < 0.01
