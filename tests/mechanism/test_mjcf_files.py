"""Files that an MJCF file names: includes and meshes, how they are confined, and what they weigh, against MuJoCo."""

import casadi as ca
import numpy as np
import pytest

from strut.errors import ModelError, StorageError
from strut.mechanism import Tree, mjcf, shapes, system
from strut.mechanism.io.names import ReadWarning
from tests.mechanism.in_mujoco import translate
from tests.mechanism.test_mjcf import parameters, random_state, relative

mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-9  # relative, asked for


def assert_like_mujoco(path, **options):
    """Mass matrix and bias forces of a file, read by both."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    m = mjcf.load(path, **options)
    tree = Tree(m)
    assert tree.nv == model.nv
    symbols, values = parameters(m)
    f = ca.Function("f", [tree.q, tree.v, symbols], [tree.mass_matrix, tree.bias])
    rng = np.random.default_rng(3)
    q, v = random_state(tree, rng)
    theirs, P, turning = translate(tree, model, q)
    data.qpos[:], data.qvel[:] = theirs, P @ v
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    ours, bias = (np.array(r) for r in f(q, v, values))
    assert relative(ours, P.T @ M @ P) < TOLERANCE
    assert relative(bias.reshape(-1), P.T @ (data.qfrc_bias + M @ turning(v))) < TOLERANCE
    return m


# ---- includes ----

MAIN = '<mujoco><include file="parts/settings.xml"/><worldbody><body name="a"><joint name="h" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/>{}</body></worldbody></mujoco>'
SETTINGS = '<mujocoinclude><compiler angle="radian"/><default><geom density="500"/></default></mujocoinclude>'
LEG = '<mujoco><body name="b" pos="0 0 -1" euler="0.5 0 0"><joint name="k" axis="1 0 0"/><geom type="capsule" size="0.1 0.3"/><include file="foot.xml"/></body></mujoco>'
FOOT = (
    '<mujocoinclude><body name="c"><joint name="l"/><geom size="0.2" pos="0.1 0 0"/></body></mujocoinclude>'
)


def files(folder, **contents):
    for name, content in contents.items():
        path = folder / f"{name.replace('__', '/')}.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def test_includes_are_read_where_they_stand(tmp_path):
    """From the model's folder, and where there is no such file, from that of the file that includes it."""
    files(
        tmp_path,
        main=MAIN.format('<include file="parts/leg.xml"/>'),
        parts__settings=SETTINGS,
        parts__leg=LEG,
        parts__foot=FOOT,
    )
    m = assert_like_mujoco(tmp_path / "main.xml")
    assert set(m.bodies) == {"world", "a", "b", "c"}


def test_includes_that_are_ignored_are_warned_of(tmp_path):
    files(tmp_path, main=MAIN.format('<include file="/etc/passwd"/>'))
    with pytest.warns(
        ReadWarning,
        match="main.xml: <include> of 2 files is ignored, so whatever they hold is missing: bodies",
    ):
        m = mjcf.load(tmp_path / "main.xml", ignore=["include"])
    assert set(m.bodies) == {"world", "a"}


@pytest.mark.parametrize(
    ("inside", "other", "message"),
    [
        ('<include file="other.xml"/><include file="other.xml"/>', "<mujoco/>", "'other.xml' is included twice"),
        ('<include file="other.xml"/>', '<mujoco><include file="other.xml"/></mujoco>', "'other.xml' is included twice, or includes itself"),
        ('<include file="main.xml"/>', "", "'main.xml' is included twice, or includes itself"),
        ('<include file="other.xml"/>', "<secret><word>xyzzy</word></secret>", "included file 'other.xml' is no MJCF: such a file begins with <mujoco>"),
        ('<include file="other.xml"/>', "root:xyzzy:0:0", "included file 'other.xml' is not XML"),
        ('<include file="none.xml"/>', "", "what <include> asks for is in 'none.xml', and there is no such file"),
        ('<include/>', "", "what <include> asks for names no file"),
    ],
)  # fmt: skip
def test_mistakes_with_includes_are_named(tmp_path, inside, other, message):
    files(tmp_path, main=f"<mujoco>{inside}</mujoco>", other=other)
    with pytest.raises(ModelError, match=message) as caught:
        mjcf.load(tmp_path / "main.xml")
    assert "xyzzy" not in str(caught.value)  # nothing of what a foreign file holds
    assert "main.xml" in str(caught.value)


def test_files_stay_in_the_folder_unless_roots_are_given(tmp_path):
    """By '..', by a whole path and by a link: nothing outside is read, and the message says which argument would allow it."""
    files(
        tmp_path,
        model__main='<mujoco><include file="{}"/></mujoco>',
        shared__leg='<mujoco><worldbody><body name="b"/></worldbody></mujoco>',
    )
    (tmp_path / "model" / "link.xml").symlink_to(tmp_path / "shared" / "leg.xml")
    shared = tmp_path / "shared"
    for name in ("../shared/leg.xml", str(shared / "leg.xml"), "link.xml"):
        main = tmp_path / "model" / "main.xml"
        main.write_text(f'<mujoco><include file="{name}"/></mujoco>')
        with pytest.raises(
            ModelError, match="outside of the model's folder: if you trust it, name the folder"
        ) as caught:
            mjcf.load(main)
        assert f"roots=['{tmp_path}'] or --root {tmp_path}" in str(caught.value)
        assert set(mjcf.load(main, roots=[shared]).bodies) == {"world", "b"}
    with pytest.raises(StorageError, match="the root '.*nowhere' is no folder"):
        mjcf.load(main, roots=[tmp_path / "nowhere"])


def test_the_command_line_names_roots(tmp_path, capsys):
    from strut.cli.model import Reading, find_mechanism

    files(
        tmp_path, model__main='<mujoco><include file="../shared/leg.xml"/></mujoco>', shared__leg="<mujoco/>"
    )
    with pytest.raises(ModelError, match="--root"):
        find_mechanism(str(tmp_path / "model" / "main.xml"))
    assert set(
        find_mechanism(str(tmp_path / "model" / "main.xml"), Reading(roots=(str(tmp_path),))).bodies
    ) == {"world"}
    with pytest.raises(ModelError, match="--root names a folder that a model file"):
        find_mechanism("arm.toml", Reading(roots=(str(tmp_path),)))


# ---- meshes ----

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3), (0.4, 0.3, 0.2)], dtype=np.float32) / 10
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 4), (2, 3, 4), (3, 1, 4)]
"""A tetrahedron with a dent: closed, but not convex."""


def write_meshes(folder):
    """The same mesh as STL, OBJ (with a quadrilateral split off a corner, and a second object) and MSH."""
    triangles = np.zeros(len(FACES), dtype=[("n", "<f4", 3), ("v", "<f4", (3, 3)), ("x", "<u2")])
    triangles["v"] = CORNERS[np.array(FACES)]
    (folder / "m.stl").write_bytes(b"\0" * 80 + np.uint32(len(FACES)).tobytes() + triangles.tobytes())
    lines = (
        [f"v {x} {y} {z}" for x, y, z in CORNERS]
        + ["o first"]
        + [f"f {a + 1}/1 {b + 1} {c - len(CORNERS)}" for a, b, c in FACES]
    )
    (folder / "m.obj").write_text("\n".join([*lines, "o second", "f 1 2 3", ""]))
    header = np.array([len(CORNERS), 0, 0, len(FACES)], dtype="<i4")
    (folder / "m.msh").write_bytes(
        header.tobytes() + CORNERS.tobytes() + np.array(FACES, dtype="<i4").tobytes()
    )
    box = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 0.5)]
    quads = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    (folder / "box.obj").write_text(
        "\n".join([*(f"v {x} {y} {z}" for x, y, z in box), *("f " + " ".join(map(str, f)) for f in quads)])
    )


MESHED = """<mujoco><compiler {compiler}/><default><mesh scale="1 0.5 2"/></default><asset><mesh name="m" {mesh}/></asset><worldbody>
  <body name="a"><joint name="h" axis="0 1 0"/><geom size="0.1"/><geom type="mesh" mesh="m" pos="0.1 0.2 0.3" euler="10 20 30" {geom}/>
    <body name="b" pos="0 0 -0.4"><joint name="o" type="ball"/><geom type="mesh" mesh="m" {geom}/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("mesh", "geom", "compiler"),
    [
        ('file="m.stl"', "", ""),
        ('file="m.obj"', "", ""),
        ('file="m.msh"', "", ""),
        ('file="box.obj"', 'density="100"', ""),
        ('file="m.stl" inertia="exact"', "", ""),
        ('file="m.stl" inertia="exact" scale="-1 2 1"', "", ""),
        ('file="m.stl" inertia="convex"', "", ""),
        ('file="m.stl" inertia="shell"', 'density="3"', ""),
        ('file="m.stl" refpos="0.1 0 0.2" refquat="1 0.2 0.3 0"', 'mass="2"', ""),
        ('file="deep/down/m.stl"', 'mass="2"', 'strippath="true"'),
        ('vertex="0 0 0 1 0 0 0 2 0 0 0 3"', "", ""),
        ('vertex="0 0 0 1 0 0 0 2 0 0 0 3" face="0 2 1 0 1 3 0 3 2 1 2 3"', "", ""),
        *(('file="m.stl"', f'type="{kind}"', fit) for kind in ("sphere", "capsule", "cylinder", "box", "ellipsoid") for fit in ("", 'fitaabb="true"')),
        ('file="m.stl"', 'type="box" fitscale="1.5"', ""),
    ],
)  # fmt: skip
def test_meshes_weigh_what_they_do_in_mujoco(tmp_path, mesh, geom, compiler):
    write_meshes(tmp_path)
    text = MESHED.format(mesh=mesh, geom=geom, compiler=compiler)
    text = text.replace('type="mesh" ', "") if "type=" in geom else text
    (tmp_path / "main.xml").write_text(text)
    m = assert_like_mujoco(tmp_path / "main.xml")
    if "type=" not in geom and "m.stl" in mesh:
        assert shapes.in_numbers(m)["b"][0].path == str(tmp_path / "m.stl")


def test_a_geom_with_a_mesh_and_no_type_is_a_sphere(tmp_path):
    write_meshes(tmp_path)
    (tmp_path / "main.xml").write_text(
        MESHED.format(mesh='file="m.stl"', geom="", compiler="").replace('type="mesh" ', "")
    )
    m = assert_like_mujoco(tmp_path / "main.xml")
    assert isinstance(m.shapes["b"][0], shapes.Sphere)


def test_meshes_of_pictures_stay_in_the_folder(tmp_path):
    """A body with an inertia of its own needs no mesh: one outside is left out of pictures, with a warning."""
    (tmp_path / "model").mkdir()
    write_meshes(tmp_path)
    text = '<mujoco><compiler meshdir=".."/><asset><mesh name="m" file="m.stl"/></asset><worldbody><body name="a"><geom type="mesh" mesh="m"/>{}</body></worldbody></mujoco>'
    main = tmp_path / "model" / "main.xml"
    main.write_text(text.format('<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'))
    with pytest.warns(ReadWarning, match=f"1 files of meshes.*not shown in pictures.*--root {tmp_path}"):
        assert not mjcf.load(main).shapes.get("a")
    assert mjcf.load(main, roots=[tmp_path]).shapes["a"][0].path == str(tmp_path / "m.stl")
    main.write_text(text.format(""))
    with pytest.raises(ModelError, match="mesh 'm' is in '../m.stl', which is outside of the model's folder"):
        mjcf.load(main)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.stl", b"solid xyzzy", "mesh 'm': 'm.stl' is no binary STL"),
        ("m.stl", b"\0" * 84, "mesh 'm': 'm.stl' has 0 vertices"),
        ("m.msh", b"xyzzy", "mesh 'm': 'm.msh' is no MSH file: it has no header"),
        ("m.msh", b"\x01" * 40, "mesh 'm': 'm.msh' is no MSH file: its size"),
        ("m.obj", b"v 1 2 xyzzy", "mesh 'm': 'm.obj' is damaged: it is no OBJ file"),
        ("m.obj", b"v 1 2 3\nf 1 2 3", "mesh 'm': 'm.obj' has a face with a corner that does not exist"),
        ("m.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3", "mesh 'm' has the volume 0 m\\^3, which is too small"),
        ("m.obj", b"v 0 0 0\nv 1 0 0\nv 1 1 1\nv 0 1 0\nv -1 0.5 0\nf 1 2 3 4 5", "has a face of 5 corners that is bent"),
        ("m.dae", b"<xyzzy/>", "mesh 'm': 'm.dae' ends in '.dae': meshes are read from .stl, .msh, .obj"),
    ],
)  # fmt: skip
def test_damaged_meshes_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "main.xml").write_text(MESHED.format(mesh=f'file="{name}"', geom="", compiler=""))
    with pytest.raises(ModelError, match=message) as caught:
        mjcf.load(tmp_path / "main.xml")
    assert "xyzzy" not in str(caught.value)


# ---- names and carelessness ----


def test_a_site_may_have_the_name_of_a_body():
    text = """<mujoco><worldbody><body name="hand"><joint name="h" pos="0 0 0.1"/><geom size="0.1"/><site name="hand" pos="1 2 3"/><site name="hand_site"/></body>
      <body><geom size="0.1"/></body><body name="body_1"/></worldbody></mujoco>"""
    m = mjcf.parse(text)
    assert set(m.frames) == {"hand", "hand_site", "hand_site_site"}
    assert set(m.bodies) == {"world", "hand", "body_1", "body_2"}


def test_a_site_may_be_called_as_a_joint_is_without_its_axis():
    """Outputs are called after frames, hip_x; a joint of that name keeps it, and the output is hip_frame_x."""
    text = """<mujoco><worldbody><body name="leg"><joint name="hip_x" axis="1 0 0"/><geom size="0.1"/><site name="hip" pos="1 2 3"/></body></worldbody></mujoco>"""
    machine = system(mjcf.parse(text))
    assert "hip_x" in machine.labels("x")
    assert {"hip_frame_x", "hip_frame_y", "hip_frame_z"} <= set(machine.outputs)


def test_a_body_that_has_nothing_gets_its_least_mass_where_mujoco_puts_it(tmp_path):
    (tmp_path / "main.xml").write_text(
        '<mujoco><compiler boundmass="0.1" boundinertia="0.01"/><worldbody><body name="a"><joint axis="0 1 0" name="h"/><geom size="0.1" pos="0.2 0 0"/>'
        '<frame pos="1 0 0"><body name="b" pos="0.1 0.2 0.3" euler="20 0 30"/></frame></body></worldbody></mujoco>'
    )
    assert_like_mujoco(tmp_path / "main.xml")


def test_xml_that_other_readers_forgive():
    text = '<mujoco><!-- a -- b --><worldbody><body name="a"pos="0 0 1"><geom size="1"/></body></worldbody></mujoco>'
    with pytest.warns(
        ReadWarning, match="MJCF is not XML as it stands: not well-formed .*; it is read without comments"
    ):
        assert set(mjcf.parse(text).bodies) == {"world", "a"}


def test_bodies_nested_too_deep():
    deep = "<body>" * 1000 + "</body>" * 1000
    with pytest.raises(ModelError, match="has elements nested deeper than 200"):
        mjcf.parse(f"<mujoco><worldbody>{deep}</worldbody></mujoco>")
