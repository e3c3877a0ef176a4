"""Files of a studio: plain, inside of its folder, and never overwritten unseen."""

import pytest

from strut.cli.studio import BELONGS_TO, FIELD_NEEDS, command_forms
from strut.errors import StorageError, StrutError, UnknownNameError, ValueRangeError
from strut.studio import CommandForm, FormField, Workspace
from strut.studio.forms import REASONS
from strut.studio.reading import answer, find_marks, read_model
from strut.studio.workspace import ConflictError

SPRING = 'node "mass" { x = 1 v = 0 x\' = "v" v\' = "-k * x" k = 4 }\n'


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "secret.toml").write_text("outside = 1\n")
    return Workspace(tmp_path / "models")


def test_a_file_is_saved_as_it_is_and_listed(workspace):
    saved = workspace.save("leg/own.toml", "a = 1\n", "")
    assert (workspace.folder / "leg" / "own.toml").read_text() == "a = 1\n"
    assert workspace.names() == ["leg/own.toml"]
    again = workspace.save("leg/own.toml", "a = 2\n", saved.version)
    assert workspace.read("leg/own.toml") == again


def test_what_another_changed_is_not_overwritten(workspace):
    first = workspace.save("own.toml", "a = 1\n", "")
    (workspace.folder / "own.toml").write_text("a = 3\n")
    with pytest.raises(ConflictError, match="changed elsewhere") as conflict:
        workspace.save("own.toml", "a = 2\n", first.version)
    assert conflict.value.now.text == "a = 3\n"
    assert (workspace.folder / "own.toml").read_text() == "a = 3\n"
    with pytest.raises(ConflictError):
        workspace.save("own.toml", "a = 2\n", "")  # meant as new


@pytest.mark.parametrize(
    "name",
    ["../secret.toml", "/etc/passwd", ".hidden.toml", "a/../../secret.toml", "-o.toml", "", "x\0.toml"],
)
def test_nothing_outside_is_touched(workspace, name):
    with pytest.raises(StorageError, match="studio"):
        workspace.read(name)
    with pytest.raises(StorageError):
        workspace.save(name, "mine", "")


def test_a_link_that_leads_outside_is_refused(workspace):
    (workspace.folder / "link.toml").symlink_to(workspace.folder.parent / "secret.toml")
    assert workspace.names() == []
    with pytest.raises(StorageError, match="outside"):
        workspace.read("link.toml")


def test_only_texts_of_models_are_edited(workspace):
    with pytest.raises(StorageError, match=r"texts end in \.cdn"):
        workspace.save("run.sh", "rm", "")
    (workspace.folder / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(StorageError, match="UTF-8"):
        workspace.read("bytes.toml")
    with pytest.raises(UnknownNameError, match="no file 'none"):
        workspace.read("none.toml")


def test_marks_stand_where_the_mistake_is():
    assert find_marks("a.cdn", SPRING) == []
    (mark,) = find_marks("a.cdn", SPRING + "\nedge {\n")
    assert mark.line == 3
    (mark,) = find_marks("a.toml", 'name = "leg"\nplanar = \n')
    assert (mark.line, "TOML" in mark.message) == (2, True)
    (mark,) = find_marks("a.py", "def machine(:\n")
    assert mark.line == 1
    assert find_marks("a.py", "import os; os.remove('x')\n") == []  # parsed, never run


LONG = """name = "leg"
[bodies.thigh]
mas = 1.0
"""


def test_a_mark_says_neither_file_nor_line_and_quotes_nothing_that_stands_beside():
    (mark,) = find_marks("leg/own.toml", LONG)
    assert (mark.line, mark.column) == (3, 1)
    assert mark.message.startswith("[bodies.thigh] 'mas' is unknown here: did you mean 'mass'?")
    assert "\n" not in mark.message
    said = answer({"do": "describe", "name": "leg/own.toml", "text": LONG})["error"]
    assert said == f"line 3: {mark.message}"
    (mark,) = find_marks("own.toml", 'name = "leg"\nplanar = \n')
    assert mark.message.startswith("not TOML: ")
    (mark,) = find_marks("own.toml", "[bodies.thigh]\nmass = 1.0\n")
    assert "own.toml" not in mark.message


def test_marks_of_programs_name_what_strut_does_not_have():
    program = """import os
from strut import walkers, simulat
import strut

os.remove("x")
raise SystemExit(3)
walk = strut.simulate(walkers.compas(), t=3, setp=1)
mass = strut.Param("mass", 3.0, unti="kg")
other = walk.anything.of.mine(at=1)
"""
    marks = find_marks("own.py", program)  # and nothing was run: no file is missed, and nothing ended
    assert [(mark.line, mark.message.split(":")[0]) for mark in marks] == [
        (2, "strut has no 'simulat'"),
        (7, "strut.walkers has no 'compas'"),
        (8, "strut.Param has no argument 'unti'"),
    ]
    assert "did you mean 'compass'?" in marks[1].message
    assert find_marks("own.py", "return 3\n")[0].message == "'return' outside function"
    assert find_marks("own.py", "x = '\0'\n")


def test_what_a_model_has_is_told_to_the_forms():
    has = answer({"do": "describe", "name": "own.cdn", "text": SPRING})["has"]
    assert (has["model"], has["walks"], has["inputs"], has["job"]) == (True, False, False, False)
    has = answer({"do": "describe", "name": "compass"})["has"]
    assert has["walks"]
    assert has["inputs"]
    assert not has["random"]
    job = answer({"do": "describe", "name": "job.toml", "text": "[search]\nmethod = 'pso'\n"})
    assert (job["has"]["model"], job["has"]["job"]) == (False, True)
    program = answer({"do": "describe", "name": "own.py", "text": "raise SystemExit\n"})
    assert program["has"]["model"] is False
    assert "nothing of it is run" in program["error"]
    robot = answer({"do": "describe", "name": "arm.urdf", "text": "<robot/>"})["has"]
    assert (robot["walks"], robot["robot file"], robot["MJCF file"]) == (None, True, False)


def test_every_need_of_a_form_has_a_reason_and_every_exception_an_option():
    forms = {form.command: form for form in command_forms()}
    for form in forms.values():
        needs = {*form.needs, *(each.needs for each in form.fields if each.needs)}
        assert needs <= set(REASONS)
        names = [each.name for each in form.fields]
        assert {each.belongs_to for each in form.fields if each.belongs_to} <= set(names)
    for command, name in (*FIELD_NEEDS, *BELONGS_TO):  # an option of another name would lose its reason
        assert name in [each.name for each in forms[command].fields]


def test_a_model_is_read_without_its_file():
    system = read_model("own.cdn", SPRING)
    assert [q.name for q in system.x] == ["mass.x", "mass.v"]
    with pytest.raises(StrutError, match=r"\.cdn and \.toml"):
        read_model("own.urdf", "<robot/>")


FORM = CommandForm(
    "design",
    "",
    fields=(
        FormField("speed", "--speed"),
        FormField("starts", "--starts", "integer"),
        FormField("set", "--set", repeats=True),
        FormField("all", "--all", "switch"),
    ),
)


def test_a_form_becomes_words_that_no_value_can_leave():
    values = {"speed": "--output=/etc/x; rm -rf /", "starts": "3", "set": ["a=1", "$(b)=2"], "all": True}
    assert FORM.words("compass", values, "results/x") == [
        "design",
        "compass",
        "--speed=--output=/etc/x; rm -rf /",
        "--starts=3",
        "--set=a=1",
        "--set=$(b)=2",
        "--all",
        "--output=results/x",
    ]
    assert FORM.words("compass", {"speed": " ", "all": False}, "o") == ["design", "compass", "--output=o"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"starts": "many"}, "--starts is 'many': integer needed"),
        ({"all": "yes"}, "switch"),
        ({"speed": {"a": 1}}, "text or a number"),
        ({"speed": "9" * 3000}, "3000 characters"),
    ],
)
def test_wrong_values_are_refused(values, message):
    with pytest.raises(ValueRangeError, match=message):
        FORM.words("compass", values, "o")


def test_an_unknown_field_is_refused():
    with pytest.raises(UnknownNameError, match="no field 'output' here"):
        FORM.words("compass", {"output": "/etc"}, "o")
