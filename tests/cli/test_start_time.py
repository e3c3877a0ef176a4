"""What a command does not need is not imported: it would be most of the wait of a short one."""

import ast
import importlib
import inspect
import subprocess
import sys

import pytest

HEAVY = (
    "lark",
    "xml.etree",
    "matplotlib",
    "plotly",
    "scipy",
    "filelock",
    "strut.control",
    "strut.linkage",
    "strut.network",
    "strut.ports",
    "strut.view",
    "strut.mechanism.io",
    "strut.actuator.dc_motors",
    "strut.contact.compliant",
    "strut.contact.rigid",
    "strut.optimal.polynomial",
    "strut.optimal.walk.trade_off",
    "strut.simulate.python_engine",
    "strut.walkers.",
)
"""What a design of a ready-made walker, printed on the terminal, has no use for, or not before it is known
which walker."""


@pytest.mark.parametrize("module", ["strut.cli.design"])
def test_heavy_packages_are_imported_on_demand(module):
    code = f"import sys, {module}; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    needless = [name for name in done.stdout.split() if name.startswith(HEAVY)]
    assert not needless


def test_readers_of_files_are_found_when_first_used():
    code = (
        "import sys\nfrom strut import mechanism\nassert 'strut.mechanism.io.urdf' not in sys.modules\n"
        "assert mechanism.urdf.load and 'strut.mechanism.io.urdf' in sys.modules\n"
        "from strut.mechanism import mjcf, modelfile\n"
        "try:\n    mechanism.step\nexcept AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "module 'strut.mechanism' has no attribute 'step'"


def test_robots_are_functions_though_modules_have_their_names():
    code = (
        "import strut.walkers.coman, strut.walkers.exoskeleton\nfrom strut import walkers\n"
        "from strut.walkers import coman, dribbel_robot, exoskeleton\n"
        "print(coman.__module__, exoskeleton.__name__, dribbel_robot.__name__, 'coman' in dir(walkers))\n"
        "print(walkers.ROBOTS['coman'] is coman, list(walkers.ROBOTS))\n"
        "try:\n    walkers.biped\nexcept AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "strut.walkers.coman_robot exoskeleton dribbel_robot True",
        "True ['coman', 'coman-planar', 'human']",
        "module 'strut.walkers' has no attribute 'biped'",
    ]


ROOMS = ("actuator", "codegen", "contact", "gait", "optimal", "simulate", "walkers")
"""Packages that import names when they are first used."""


@pytest.mark.parametrize("room", ROOMS)
def test_names_imported_on_demand_are_those_that_types_are_checked_with(room):
    package = importlib.import_module(f"strut.{room}")
    block = next(
        node
        for node in ast.parse(inspect.getsource(package)).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    typed = {
        alias.name: node.module.removeprefix(f"strut.{room}.") for node in block.body for alias in node.names
    }
    assert typed == package._HOME_OF
    assert set(typed) <= set(package.__all__) <= set(dir(package))


def test_a_name_on_demand_is_not_the_module_that_has_the_name():
    code = (
        "import strut.gait.find, strut.contact.rigid, strut.simulate.simulate\n"
        "from strut import contact, gait\nfrom strut.simulate import simulate\n"
        "print(gait.find.__name__, contact.rigid.__name__, simulate.__module__)\n"
        "try:\n    gait.found\nexcept AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "find rigid strut.simulate.simulate",
        "module 'strut.gait' has no attribute 'found'",
    ]


def test_a_saved_result_is_read_before_its_classes_were_used(tmp_path):
    write = "from strut import gait, walkers\ngait.find(walkers.compass()).save('a.h5')\n"
    read = "from strut import gait\nprint(type(gait.load('a.h5')).__name__)\n"
    for code in (write, read):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
        )
    assert done.stdout.strip() == "Gait"
