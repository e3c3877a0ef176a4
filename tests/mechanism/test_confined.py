"""Meshes that a URDF names: from its folder, its package and given roots."""

import warnings
from pathlib import Path

import pytest

from strut.mechanism import urdf

ROBOT = '<robot name="r"><link name="a"><visual><geometry><mesh filename="{}"/></geometry></visual></link></robot>'


@pytest.fixture
def robot(tmp_path):
    for place in ("pack/urdf", "pack/meshes", "sibling", "pack/urdf/below"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "link.stl").write_text("solid\nendsolid\n")
    (tmp_path / "pack" / "urdf" / "linked.stl").symlink_to(tmp_path / "sibling" / "link.stl")

    def load(name, **options):
        path = tmp_path / "pack" / "urdf" / "r.urdf"
        path.write_text(ROBOT.format(name))
        return urdf.load(path, **options).shapes["a"][0].path

    load.base = tmp_path
    return load


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("link.stl", "pack/urdf/link.stl"),
        ("below/link.stl", "pack/urdf/below/link.stl"),
        ("package://pack/meshes/link.stl", "pack/meshes/link.stl"),
    ],
)
def test_meshes_of_its_own_are_located(robot, name, place):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Path(robot(name)) == robot.base / place
        assert robot("not_there.stl") == "not_there.stl"


@pytest.mark.parametrize(
    "name",
    [
        "../../sibling/link.stl",
        "{}/sibling/link.stl",
        "file://{}/sibling/link.stl",
        "linked.stl",
        "package://pack/../sibling/link.stl",
    ],
)
def test_a_mesh_elsewhere_is_not_read_and_told(robot, name):
    name = name.format(robot.base)
    with pytest.warns(
        UserWarning,
        match=r"the mesh '.*' of r is not read, which leads outside of the model's folder .*roots=\['.*sibling'\]",
    ):
        assert robot(name) == f"outside://{name}"


def test_a_root_gives_it(robot):
    sibling = robot.base / "sibling"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Path(robot("../../sibling/link.stl", roots=[sibling])).resolve() == sibling / "link.stl"
        assert Path(robot("package://sibling/link.stl", roots=[robot.base])) == sibling / "link.stl"
        assert Path(robot("package://sibling/link.stl", roots=[sibling])) == sibling / "link.stl"
        assert (
            robot("package://sibling/link.stl") == "package://sibling/link.stl"
        )  # whose package nobody gave


def test_a_package_is_not_as_wide_as_a_home(robot, monkeypatch):
    monkeypatch.setenv("HOME", str(robot.base / "pack"))
    assert robot("package://pack/meshes/link.stl") == "package://pack/meshes/link.stl"
