"""What a command does not need is not imported: it would be most of the wait of a short one."""

import subprocess
import sys

import pytest

HEAVY = (
    "lark",
    "xml.etree",
    "matplotlib",
    "plotly",
    "scipy",
    "strut.control",
    "strut.linkage",
    "strut.network",
    "strut.ports",
    "strut.view",
    "strut.mechanism.io",
)
"""Packages that a design of a ready-made walker, printed on the terminal, has no use for."""


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
