"""The wheel in an environment that holds what strut requires and nothing else: no extra, no test tool."""

import os
import re
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "src")
"""What a wheel is made of."""


def required_distributions(*names):
    """These distributions and all that they require without extras, as installed here."""
    known = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        distribution = metadata.distribution(name)
        if distribution.name in known:
            continue
        known[distribution.name] = distribution
        for line in distribution.requires or ():
            requirement, _, marker = line.partition(";")
            word = re.match(r"[A-Za-z0-9._-]+", requirement)[0]
            if "extra ==" in marker:
                continue
            try:
                metadata.distribution(word)
            except metadata.PackageNotFoundError:
                assert marker, (
                    f"{name} requires {word}, which is not installed"
                )  # of another system or Python
                continue
            waiting.append(word)
    return known


@pytest.fixture(scope="session")
def bare_strut(tmp_path_factory):
    """The command `strut` of a bare environment: built as a wheel, installed by pip, its requirements linked from here."""
    place = tmp_path_factory.mktemp("bare")
    source = place / "source"
    source.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    shutil.rmtree(source / "src" / "strut.egg-info", ignore_errors=True)
    new_enough = int(metadata.version("setuptools").split(".")[0]) >= 77
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [
        *pip,
        "wheel",
        "--no-deps",
        *(["--no-build-isolation"] * new_enough),
        "-w",
        str(place),
        str(source),
    ]
    made = subprocess.run(build, capture_output=True, text=True, check=False, timeout=240)
    if made.returncode and "No matching distribution found for setuptools" in made.stderr:
        pytest.skip("setuptools>=77 is not installed and cannot be fetched: pip install 'strut[dev]'")
    assert made.returncode == 0, made.stderr
    (wheel,) = place.glob("*.whl")
    home = place / "environment"
    venv.create(home, with_pip=False)
    (packages,) = home.glob("lib/python*/site-packages")
    requires = re.findall(
        r'^    "([a-z0-9]+)[><=]',
        (ROOT / "pyproject.toml").read_text().partition("[project.optional")[0],
        re.M,
    )
    assert {"casadi", "numpy", "typer"} <= set(requires)
    for distribution in required_distributions(*requires).values():
        tops = {file.parts[0] for file in distribution.files or () if ".." not in file.parts}
        for top in tops - {"__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(distribution.locate_file(top))
    python = home / "bin" / "python"
    install = [*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    done = subprocess.run(install, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr

    def run(*arguments, **more):
        environment = more | {
            k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        }
        return subprocess.run(
            [str(home / "bin" / "strut"), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
            cwd=place,
            env=environment | {"COLUMNS": "160"},
        )

    run.python = python
    return run


@pytest.mark.parametrize("package", ["scipy", "plotly", "pandas", "matplotlib", "PIL", "trimesh"])
def test_the_environment_is_bare(bare_strut, package):
    done = subprocess.run(
        [str(bare_strut.python), "-c", f"import {package}"], capture_output=True, check=False
    )
    assert b"ModuleNotFoundError" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--version",), "0."),
        (("list",), "rimless-wheel"),
        (("run", "rimless-wheel", "-t", "2", "--no-page"), "heel_strike"),
        (("gait", "simplest"), "stable"),
        (("design", "compass-driven", "--speed", "0.5"), "time to solve"),
        (("export", "slip", "-o", "firmware"), "build it: make -C"),
        (("doctor",), "optional: pip install 'strut[stiff]'"),
        (("reproduce", "--list"), "saurel-table1"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_commands_need_no_extra(bare_strut, arguments, says):
    done = bare_strut(*arguments)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout + done.stderr


def test_what_needs_an_extra_says_which(bare_strut):
    assert bare_strut("run", "pendulum", "-t", "1", "--integrator", "radau").returncode == 0
    done = bare_strut("run", "pendulum", "-t", "1", "--integrator", "radau", STRUT_BACKEND="virtual")
    assert done.returncode == 2
    assert "method 'radau' needs SciPy, which is not installed: pip install 'strut[stiff]'" in done.stderr
    done = bare_strut("reproduce", "saurel-table1")
    assert done.returncode == 2
    assert (
        "the study saurel-table1 needs SciPy, which is not installed: pip install 'strut[stiff]'"
        in done.stderr
    )


def test_importing_strut_imports_no_numbers_and_no_extra():
    """What takes long to import waits until it is used: counted in modules, because time is not repeatable."""
    code = "import sys, strut; print(*sys.modules)"
    modules = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert not modules & {
        "numpy",
        "casadi",
        "scipy",
        "plotly",
        "pandas",
        "matplotlib",
        "h5py",
        "typer",
        "strut.system",
    }
    code = "import sys, strut.cli.app; strut.cli.app.application(); print(*sys.modules)"
    modules = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert not modules & {"scipy", "plotly", "pandas", "matplotlib", "PIL", "trimesh", "strut.studies"}


def test_names_of_strut_that_packages_share_are_the_functions():
    code = """
import strut
import strut.simulate.options, strut.export.c
assert callable(strut.simulate) and callable(strut.export), (strut.simulate, strut.export)
assert set(strut.__all__) <= set(dir(strut))
for name in strut.__all__:
    getattr(strut, name)
try:
    strut.nothing_of_the_kind
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "module 'strut' has no attribute 'nothing_of_the_kind'\n", done.stderr
