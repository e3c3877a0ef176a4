"""The command line: what it prints for people and for machines, and what it says when something is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import strut
from strut.catalogue import MECHANISM_DESCRIPTIONS, SYSTEM_DESCRIPTIONS
from strut.cli import main
from strut.cli.app import COMMANDS
from strut.cli.model import parse_times
from strut.cli.save import walks
from strut.errors import ValueRangeError
from strut.units import number


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory, monkeypatch):
    """A walk leaves its page where one is."""
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))


def run(capsys, *arguments):
    """Exit status, standard output, standard error."""
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    said = capsys.readouterr()
    return left.value.code, said.out, said.err


def test_run_prints_what_happened(capsys):
    code, out, _ = run(capsys, "run", "rimless-wheel", "-t", "10")
    assert code == 0
    for word in (
        "rimless_wheel",
        "done",
        "heel_strike",
        "impact (lost in events)",
        "residual",
        "[J]",
        "rad/s",
    ):
        assert word in out


def test_a_walk_tells_its_steps_and_leaves_a_page(capsys):
    code, out, err = run(capsys, "run", "compass", "--set", "slope=3deg", "-t", "0:0.001:10")
    assert code == 0
    assert "energy per step [J]" in out
    rows = [line.split() for line in out[out.index("energy per step") :].splitlines()]
    first = next(row for row in rows if row[:1] == ["1"])
    gravity, lost = float(first[3]), float(first[4])
    assert gravity == pytest.approx(lost, rel=1e-5)  # what the slope gives, the impact takes
    assert gravity == pytest.approx(-5.49812, rel=1e-5)
    assert [row[0] for row in rows if row and row[0] in ("…", "13", "rest", "all")] == [
        "…",
        "13",
        "rest",
        "all",
    ]
    assert "wrote compass.html" in err
    page = Path("compass.html").read_text(encoding="utf-8")
    assert "strut run compass --set slope=3deg -t 0:0.001:10" in page
    assert 'id="film"' in page
    assert "Energy, step by step" in page


@pytest.mark.slow  # compiles the whole robot: a minute
def test_coman_stands_and_leaves_a_page(capsys):
    code, out, err = run(capsys, "run", "coman", "-t", "0:0.001:1")
    assert code == 0
    assert "coman is stiff: by rkc in steps of 0.001 s; --integrator says otherwise" in " ".join(err.split())
    assert "done" in out
    assert "wrote coman.html" in err
    page = Path("coman.html").read_text(encoding="utf-8")
    assert "strut run coman -t 0:0.001:1 --integrator rkc" in page
    assert 'id="film"' in page
    assert "r_knee_sag" in page
    assert "Normal forces alone" in page


def test_what_stands_on_feet_is_looked_at_though_it_makes_no_step():
    machine = strut.Mechanism("block", planar=True)
    body = machine.body("body", mass=2.0, inertia=0.1)
    machine.joint("base", machine.world, body, strut.joints.planar(), actuated=False)
    machine.frame("foot", body)
    system = strut.contact.compliant(machine, ["foot"], law=strut.contact.linear(1e4, 50.0))
    block = strut.simulate(system, t=0.01, backend="virtual")
    assert walks(block)
    compass = strut.simulate(strut.walkers.compass(), t=0.01)
    assert not walks(compass)  # it has not made a step yet


@pytest.mark.parametrize(
    "more",
    [("--no-page",), ("--json",), ("--print", "stance"), ("-o", "walk.csv")],
    ids=["no-page", "json", "print", "output"],
)
def test_no_page_where_none_is_wanted(capsys, more):
    code, _, _ = run(capsys, "run", "compass", "-t", "2", *more)
    assert code == 0
    assert not Path("compass.html").exists()


def test_no_page_for_what_does_not_walk(capsys):
    run(capsys, "run", "pendulum", "-t", "2")
    run(capsys, "run", "compass", "-t", "0.1")  # no step yet
    assert list(Path.cwd().iterdir()) == []


def test_json_has_the_steps(capsys):
    _, out, _ = run(capsys, "run", "compass", "-t", "4", "--json")
    steps = json.loads(out)["result"]["steps"]
    assert steps["whole"] == [True] * 5 + [False]
    assert len(steps["gravity (stored)"]) == len(steps["end"]) == 6
    _, out, _ = run(capsys, "run", "pendulum", "-t", "1", "--json")
    assert "steps" not in json.loads(out)["result"]


def test_a_directory_gets_everything(capsys):
    pytest.importorskip("matplotlib")
    code, _, err = run(
        capsys,
        "run",
        "rimless-wheel",
        "-t",
        "0:0.1:3",
        "--set",
        "slope=5deg",
        "--rtol",
        "1e-8",
        "-o",
        "new/walk",
    )
    assert code == 0
    assert "files to new/walk/" in err
    there = Path("new/walk")
    assert len((there / "run.csv").read_text().splitlines()) == 32
    assert strut.Trajectory.load(there / "run.h5").ok
    assert (there / "energy.svg").exists()
    assert (there / "energy.png").exists()
    page = (there / "index.html").read_text(encoding="utf-8")
    assert "strut run rimless-wheel --set slope=5deg -t 0:0.1:3 --rtol 1e-08" in page
    assert not Path("rimless_wheel.html").exists()


def test_without_plotly_a_walk_still_walks(capsys, monkeypatch):
    for name in [*(n for n in sys.modules if n.startswith("plotly")), "plotly"]:
        monkeypatch.setitem(sys.modules, name, None)
    code, out, err = run(capsys, "run", "compass", "-t", "2")
    assert code == 0
    assert "energy per step" in out
    assert "wrote compass.html" in err
    code, _, err = run(capsys, "run", "compass", "-t", "2", "-o", "walk")
    assert code == 0
    assert Path("walk/run.h5").exists()
    assert Path("walk/index.html").exists()


def test_run_json(capsys):
    code, out, _ = run(capsys, "run", "rimless-wheel", "-t", "60", "--json", "--set", "slope=0.08")
    data = json.loads(out)["result"]
    assert code == 0
    assert data["status"] == "done"
    assert data["final"]["steps"] > 40
    assert data["ledger"]["residual"] < 1e-8
    assert data["provenance"]["strut"] == strut.__version__


def test_set_understands_units(capsys):
    _, out, _ = run(
        capsys, "run", "slip", "--set", "attack=64deg", "--set", "stiffness=15kN", "-t", "20", "--json"
    )
    data = json.loads(out)["result"]
    assert data["parameters"]["attack"] == pytest.approx(np.radians(64))
    assert data["parameters"]["stiffness"] == 15e3
    assert data["status"] == "finished"


def test_columns_over_time(capsys):
    code, out, _ = run(capsys, "run", "pendulum", "-t", "0:0.5:2", "--print", "angle", "--print", "tip_x")
    rows = [line.split("\t") for line in out.strip().splitlines()]
    assert code == 0
    assert rows[0] == ["t", "angle", "tip_x"]
    assert [float(r[0]) for r in rows[1:]] == [0, 0.5, 1, 1.5, 2]
    assert float(rows[1][1]) == 1.0


def test_files_are_written(capsys, tmp_path):
    code, _, err = run(
        capsys,
        "run",
        "pendulum",
        "-t",
        "0:0.1:1",
        "-o",
        str(tmp_path / "a.h5"),
        "-o",
        str(tmp_path / "a.csv"),
        "-o",
        str(tmp_path / "a.html"),
    )
    assert code == 0
    assert "wrote" in err
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 12
    with h5py.File(tmp_path / "a.h5") as file:
        assert file.attrs["status"] == "done"
    assert "<html" in (tmp_path / "a.html").read_text()[:200].lower()


def test_fixed_step_methods_take_the_step_of_the_time(capsys):
    _, out, _ = run(capsys, "run", "pendulum", "-t", "0:0.01:1", "--integrator", "rk4", "--json")
    assert json.loads(out)["result"]["statistics"]["steps"] == 100


def test_a_run_that_ends_badly_says_why(capsys):
    code, out, _ = run(capsys, "run", "bouncing-ball", "-t", "10")
    assert code == 1
    assert "zeno" in out
    assert "accumulate" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "slpi"), "there is no model 'slpi': did you mean 'slip'"),
        (("run", "slip", "--set", "stifness=1"), "has no 'stifness': did you mean 'stiffness'"),
        (("run", "slip", "--set", "attack"), "write NAME=VALUE"),
        (("run", "slip", "--set", "attack=steep"), "'steep' is not a number"),
        (("run", "slip", "--set", "attack=100deg"), "parameter 'attack' is 1.74533 rad: allowed are"),
        (("run", "slip", "-t", "5:1"), "before it begins"),
        (("run", "slip", "-t", "0:0:1"), "the step is 0 s"),
        (("run", "slip", "-t", "0:-1:1"), "the step is -1 s"),
        (("run", "slip", "-t", "soon"), "'soon' is not a number"),
        (("run", "slip", "--print", "leggg"), "'slip' has no 'leggg': did you mean 'leg'"),
        (("run", "slip", "--integrator", "magic"), "method 'magic' is unknown"),
        (("run", "slip", "-o", "/nowhere/at/all.h5"), "the directory /nowhere/at does not exist"),
        (("run", "nothere.py"), "there is no such file"),
        (("run", "slip", "--print", "mass"), "'mass' is a parameter and does not change"),
        (("run", "slip", "--set", "mass=80s"), "does not fit a quantity in kg"),
        (("list", "nothing"), "there is no model 'nothing'"),
        (("run", "compass", "--set", "slop=3deg"), "system 'compass' has no 'slop': did you mean 'slope'"),
        (("run", "pendulum", "-t", "0.1", "-o", "x.png"), ".csv (a table), .html (a page"),
        (("run", "pendulum", "--stops"), "--stops makes soft stops of the joint limits"),
        (("run", "pendulum", "--ignore", "tendon"), "--ignore belongs to FILE.xml"),
    ],
)
def test_mistakes_are_one_sentence(capsys, arguments, message):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert err.startswith("error: ")
    assert message in err.replace("\n", " ")
    assert "Traceback" not in err


def test_a_system_from_a_file_of_ones_own(capsys, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from strut import State, System\nx = State('x', 1.0)\ndecay = System('decay', x=[x], flow={x: -x})\ndef grow():\n    y = State('y', 1.0)\n    return System('grow', x=[y], flow={y: y})\n"
    )
    code, out, _ = run(capsys, "run", str(tmp_path / "mine.py"), "-t", "1", "--json")
    assert code == 0
    assert json.loads(out)["result"]["final"]["x"] == pytest.approx(np.exp(-1))
    _, out, _ = run(capsys, "run", f"{tmp_path / 'mine.py'}:grow", "-t", "1", "--json")
    assert json.loads(out)["result"]["final"]["y"] == pytest.approx(np.e)
    code, _, err = run(capsys, "run", f"{tmp_path / 'mine.py'}:shrink")
    assert code == 2
    assert "'shrink'" in err
    (tmp_path / "bad.py").write_text("1/0")
    code, _, err = run(capsys, "run", str(tmp_path / "bad.py"))
    assert code == 2
    assert "ZeroDivisionError" in err


def test_a_robot_from_urdf(capsys, tmp_path):
    from tests.mechanism.test_urdf import ROBOT

    (tmp_path / "arm.urdf").write_text(ROBOT)
    code, out, _ = run(
        capsys, "run", f"{tmp_path / 'arm.urdf'}:fixed", "-t", "1", "--set", "elbow=0.5", "--json"
    )
    data = json.loads(out)["result"]
    assert code == 0
    assert data["ledger"]["residual"] < 1e-8
    assert {"shoulder", "elbow", "rail"} <= set(data["final"])
    code, _, err = run(capsys, "run", f"{tmp_path / 'arm.urdf'}:glued")
    assert code == 2
    assert "base 'glued' is unknown" in err


def test_a_robot_from_a_model_file(capsys, tmp_path):
    from tests.mechanism.test_modelfile import BIPED

    code, out, _ = run(
        capsys, "run", str(BIPED), "-t", "0.3", "--set", "hip_spring=100", "--set", "hip_l=-30deg", "--json"
    )
    data = json.loads(out)["result"]
    assert code == 0
    assert data["ledger"]["residual"] < 1e-8
    assert data["final"]["hip_l"] != pytest.approx(data["final"]["hip_r"])
    (tmp_path / "leg.toml").write_text('[bodies.leg]\nmass = "2 * lenght"\n[parameters]\nlength = 1\n')
    code, _, err = run(capsys, "run", str(tmp_path / "leg.toml"))
    assert code == 2
    assert "line 2: [bodies.leg] mass: 'lenght' is no parameter: did you mean 'length'?" in err
    assert '    mass = "2 * lenght"\n                ^' in err  # under the name
    code, _, err = run(capsys, "run", f"{BIPED}:left")
    assert code == 2
    assert "such a file holds one machine" in err


def test_a_robot_from_mjcf(capsys, tmp_path):
    (tmp_path / "arm.xml").write_text(
        '<mujoco><worldbody><body name="arm"><joint name="elbow" axis="0 1 0"/><geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0"/>'
        "</body></worldbody></mujoco>"
    )
    code, out, _ = run(capsys, "run", str(tmp_path / "arm.xml"), "-t", "0.2", "--json")
    assert code == 0
    assert json.loads(out)["result"]["final"]["elbow"] > 0.1  # it falls
    code, _, err = run(capsys, "run", "arm.sdf")
    assert code == 2
    assert "FILE.toml, FILE.urdf or FILE.xml" in err


def test_vectors_by_component(capsys, tmp_path):
    (tmp_path / "vec.py").write_text(
        "from strut import State, System\nq = State('q', [1.0, 2.0])\ns = System('s', x=[q], flow={q: -q.sym})\n"
    )
    code, out, _ = run(
        capsys, "run", f"{tmp_path / 'vec.py'}:s", "-t", "0:1:1", "--set", "q[1]=3", "--print", "q"
    )
    assert code == 0
    assert out.splitlines()[0] == "t\tq[0]\tq[1]"
    assert [float(v) for v in out.splitlines()[1].split("\t")] == [0, 1, 3]
    code, _, err = run(capsys, "run", f"{tmp_path / 'vec.py'}:s", "--set", "q[5]=3")
    assert code == 2
    assert "no component 'q[5]'" in err


def test_list(capsys):
    _, out, _ = run(capsys, "list")
    for name in strut.walkers.CATALOGUE:
        assert name in out
    _, out, _ = run(capsys, "list", "slip")
    for word in ("stiffness", "N/m", "touchdown", "allowed", "0 to 1e+12"):
        assert word in out
    _, out, _ = run(capsys, "list", "--json")
    assert {m["name"] for m in json.loads(out)["result"]["machines"]} == set(strut.walkers.CATALOGUE)
    _, out, _ = run(capsys, "list")
    assert all(name in out for name in strut.walkers.MECHANISMS)


def test_what_is_listed_is_what_machines_say_of_themselves():
    machines = {name: make().description for name, make in strut.walkers.CATALOGUE.items()}
    assert machines == SYSTEM_DESCRIPTIONS
    assert set(strut.walkers.MECHANISMS) == set(MECHANISM_DESCRIPTIONS)


def test_list_builds_and_imports_no_machine():
    code = "import sys; from strut.cli.app import main\ntry: main(['list'])\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "rimless-wheel" in done.stdout
    slow = {"casadi", "numpy", "scipy", "strut.system", "strut.walkers", "strut.simulate"}
    imported = slow & set(done.stdout.split())
    assert not imported


def test_export(capsys, tmp_path):
    code, out, _ = run(capsys, "export", "slip", "-o", str(tmp_path / "c"), "--set", "mass=70", "--json")
    assert code == 0
    assert "slip.c" in json.loads(out)["result"]["files"]
    assert "R(70.0)" in (tmp_path / "c" / "slip.c").read_text()
    subprocess.run(["make", "-s", "-C", tmp_path / "c"], check=True)


def test_a_mistyped_suffix_is_no_folder(capsys, tmp_path):
    code, _, err = run(capsys, "export", "compass", "-o", str(tmp_path / "walker.wsm"))
    assert code == 2
    assert "did you mean walker.wasm?" in err.replace("\n", " ")
    assert not list(tmp_path.iterdir())


def test_export_matlab(capsys, tmp_path):
    code, out, err = run(
        capsys, "export", "rimless-wheel", "-o", str(tmp_path), "--set", "slope=5deg", "--matlab"
    )
    assert code == 0
    assert "then rimless_wheel_example" in err
    assert "flow" in out
    assert f"p.slope = {float(np.radians(5))!r};" in (tmp_path / "rimless_wheel_parameters.m").read_text()
    code, out, _ = run(capsys, "export", "pendulum", "-o", str(tmp_path), "--matlab", "--json")
    assert "pendulum_flow.m" in json.loads(out)["result"]["files"]


def test_export_dynamics(capsys, tmp_path):
    """Of a robot, of a mechanism of one's own with parameters in its constraint, and from the catalogue; a system has none."""
    from tests.mechanism.test_urdf import ROBOT

    (tmp_path / "arm.urdf").write_text(ROBOT)
    code, out, _ = run(
        capsys, "export", f"{tmp_path / 'arm.urdf'}:fixed", "-o", str(tmp_path / "d"), "--dynamics"
    )
    assert code == 0
    for word in ("forward_dynamics", "inverse_dynamics", "mass_matrix", "operations"):
        assert word in out
    assert list((tmp_path / "d").glob("*_dynamics.c"))
    assert list((tmp_path / "d").glob("*_inverse_dynamics.m"))
    (tmp_path / "mine.py").write_text(
        "from strut import Mechanism, Param, constraints, joints\nm = Mechanism('twin', planar=True)\n"
        "for n in 'ab':\n    m.joint(n, m.world, m.body('body_' + n, 1.0, inertia=0.1), joints.revolute('y'))\n"
        "m.constrain(constraints.coupled('gear', 'a', 'b', Param('ratio', 2.0)))\ndef make():\n    return m\n"
    )
    for which in ("mine.py", "mine.py:m", "mine.py:make"):
        code, out, _ = run(
            capsys,
            "export",
            str(tmp_path / which),
            "-o",
            str(tmp_path / "t"),
            "--dynamics",
            "--set",
            "ratio=3",
            "--json",
        )
        assert code == 0
        assert "twin_constraint_jacobian.m" in json.loads(out)["result"]["files"]
        assert "p.ratio = 3;" in (tmp_path / "t" / "twin_parameters.m").read_text()
    code, out, _ = run(capsys, "run", str(tmp_path / "mine.py"), "-t", "0.1", "--json")
    assert json.loads(out)["result"]["status"] == "done"
    _, out, _ = run(capsys, "export", "coman", "-o", str(tmp_path / "c"), "--dynamics", "--matlab", "--json")
    assert json.loads(out)["result"]["operations"]["inverse_dynamics"] <= 4106
    assert all(file.endswith(".m") for file in json.loads(out)["result"]["files"])
    code, _, err = run(capsys, "export", "slip", "-o", str(tmp_path / "s"), "--dynamics")
    assert code == 2
    assert "'slip' is a System, not a mechanism" in err
    code, _, err = run(capsys, "export", "slip", "-o", str(tmp_path / "s"), "--matlab", "--jacobians")
    assert code == 2
    assert "--jacobians belongs to the C" in err


def test_doctor(capsys, monkeypatch):
    code, out, _ = run(capsys, "doctor")
    assert code == 0
    for word in ("C compiler", "casadi", "cache", "cores", "GPU"):
        assert word in out
    monkeypatch.setenv("CC", "no-such-compiler")
    code, out, _ = run(capsys, "doctor", "--json")
    assert code == 1
    row = next(r for r in json.loads(out)["result"]["checks"] if r["what"] == "C compiler")
    assert not row["ok"]
    assert "install gcc" in row["remedy"]


def test_help_teaches(capsys):
    for command in COMMANDS:
        code, out, _ = run(capsys, command, "--help")
        assert code == 0
        assert "Usage" in out
        assert "Examples" in out
        assert f"\n   strut {command}" in out or f"| strut {command}" in out  # set apart from the text
    _, out, _ = run(capsys, "run", "--help")
    assert "slope=3deg" in out


def test_version_and_module():
    done = subprocess.run(
        [sys.executable, "-m", "strut", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == strut.__version__


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("3deg", "rad", np.radians(3)),
        ("90deg/s", "rad/s", np.pi / 2),
        ("1e-3", "m", 1e-3),
        (" -2.5 ", "", -2.5),
        ("20kN", "N/m", 2e4),
        ("20kN/m", "N/m", 2e4),
        ("5 cm", "m", 0.05),
        (".5", "kg", 0.5),
        ("500g", "kg", 0.5),
        ("10%", "", 0.1),
        ("9.81m/s^2", "m/s^2", 9.81),
    ],
)
def test_numbers(text, unit, value):
    assert number(text, unit) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "abc", "1;2", "__import__('os')"])
def test_what_is_no_number(text):
    with pytest.raises(ValueRangeError, match="is not a number|does not fit"):
        number(text)


@pytest.mark.parametrize(
    ("text", "unit"), [("15kg", "N/m"), ("80s", "kg"), ("1%", "m"), ("3deg", ""), ("1 furlong", "m")]
)
def test_units_must_fit(text, unit):
    with pytest.raises(ValueRangeError, match="does not fit a quantity"):
        number(text, unit)


def test_times():
    assert parse_times("10").end == 10
    assert parse_times("1:2").begin == 1
    grid = parse_times("0:0.1:1").grid
    assert len(grid) == 11
    with pytest.raises(ValueRangeError, match="write END, BEGIN:END or BEGIN:STEP:END"):
        parse_times("1:2:3:4")


LIMITED = """<robot name="door"><link name="world"/><link name="leaf"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="world"/><child link="leaf"/><axis xyz="0 0 1"/><limit lower="-0.1" upper="0.1"/></joint></robot>"""


def test_limits_become_stops_on_request(capsys, tmp_path):
    path = tmp_path / "door.urdf"
    path.write_text(LIMITED)
    turning = ("--set", "hinge_rate=1", "-t", "1", "--json")
    _, out, _ = run(capsys, "run", str(path), *turning)
    answer = json.loads(out)
    assert answer["result"]["final"]["hinge"] == pytest.approx(1.0)
    (said,) = answer["messages"]
    assert "joint 'hinge' has a limit, which nothing enforces: --stops" in said["text"]
    _, out, _ = run(capsys, "run", str(path), "--stops", *turning)
    assert json.loads(out)["result"]["final"]["hinge"] < 0.15
    assert not json.loads(out)["messages"]


def test_parts_of_an_mjcf_are_left_out_knowingly(capsys, tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(
        '<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body></worldbody><deformable/></mujoco>'
    )
    code, _, err = run(capsys, "run", str(path), "-t", "0.1")
    assert code == 2
    assert "--ignore deformable" in err
    code, out, _ = run(capsys, "run", str(path), "-t", "0.1", "--ignore", "deformable")
    assert code == 0
    assert "done" in out


def test_an_impossible_inertia_in_a_file_is_a_warning(capsys, tmp_path):
    path = tmp_path / "door.urdf"
    path.write_text(LIMITED.replace('ixx="1"', 'ixx="3"'))
    code, _, err = run(capsys, "list", str(path))
    assert code == 0
    assert err.startswith(f"warning: {path}: body 'leaf' has principal moments of inertia 1, 1 and 3")


def test_list_prints_what_a_person_can_read(capsys):
    _, out, _ = run(capsys, "list", "compass")
    assert "@" not in out
    assert "if_else" not in out
    assert "the hip came down in front" in out
    _, out, _ = run(capsys, "list")
    words = " ".join(out.split())
    for said in ("needs a", "falls by itself", "(g = 1)", "humanoid COMAN: 23 motors"):
        assert said in words


@pytest.mark.parametrize("command", [(), ("run",), ("design",), ("gait",), ("export",)])
def test_h_is_help(capsys, command):
    long, short = (run(capsys, *command, flag) for flag in ("--help", "-h"))
    assert short[0] == 0
    assert short[1] == long[1] != ""


def test_help_keeps_its_brackets(capsys):
    _, out, _ = run(capsys, "run", "--help")
    assert "When the run begins and ends [s]." in " ".join(out.replace("│", " ").split())


def test_the_tab_key_completes_commands_and_machines():
    import subprocess

    def complete(words, number):
        environment = {
            **os.environ,
            "_STRUT_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(number),
        }
        code = "import sys; sys.argv = ['strut']; from strut.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout.split()

    assert complete("strut ga", 1) == ["gait"]
    assert "compass" in complete("strut run comp", 2)
