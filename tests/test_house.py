"""The house: describing never imports using, files do not form knots, and names stand for one thing."""

import ast
import functools
import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "strut"
COMMON = {
    "annotations",
    "catalogue",
    "checks",
    "confine",
    "errors",
    "extras",
    "files",
    "gc_pause",
    "html",
    "import_on_demand",
    "interrupts",
    "recording",
    "tabular",
    "units",
    "version",
}
MAY_IMPORT = {  # room -> rooms it may read, besides itself and what all share
    "system": set(),
    "mechanism": {"system"},
    "actuator": {"system"},
    "network": {"system"},
    "contact": {"system", "mechanism", "actuator", "control"},
    "ports": {"system", "mechanism", "contact", "network"},
    "walkers": {"system", "mechanism", "contact", "actuator", "control", "linkage"},
    "linkage": {"system", "mechanism"},
    "codegen": {"system"},
    "simulate": {"system", "codegen"},
    "linear": {"system", "codegen"},
    "export": {"system", "codegen"},
    "gait": {"system", "codegen", "simulate"},
    "optimal": {"system", "codegen", "simulate", "gait"},
    "control": {"system", "mechanism", "codegen", "actuator", "simulate", "gait", "optimal"},
    "evolve": {"system", "simulate", "gait", "optimal"},
    "view": {"system", "simulate"},
    "studio": {"system", "mechanism", "contact", "network", "ports", "simulate", "view", "walkers"},
    "report": {"system", "simulate", "gait", "optimal", "control", "evolve", "ports", "view"},
    "live": {"system", "codegen", "simulate", "gait", "export", "view"},
    "studies": {
        "system",
        "actuator",
        "control",
        "evolve",
        "mechanism",
        "contact",
        "export",
        "simulate",
        "gait",
        "linkage",
        "optimal",
        "ports",
        "walkers",
    },
}
BEHIND_A_DOOR = ("system", "codegen")
"""Rooms whose files others import only through the room's `__init__`."""
MAX_LINES = 450
"""Of a file: beyond, it holds two ideas."""

FILES = {
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
}


@functools.cache
def tree(module):
    return ast.parse(FILES[module].read_text())


def modules_read(module):
    """The modules of strut that a file imports: anywhere in it, in functions and for typing too."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "strut":
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                yield below if below in FILES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "strut")


def room(module):
    return [*module.split("."), ""][1]


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_rooms_read_only_what_they_may(name):
    files = [module for module in FILES if room(module) == name]
    assert files
    for module in files:
        strangers = {room(other) for other in modules_read(module)} - COMMON - {name} - MAY_IMPORT[name]
        assert not strangers, f"{module} reads {strangers}"


def test_every_room_is_listed():
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert rooms - {"cli"} == set(MAY_IMPORT)


def test_the_waist_and_the_compiler_are_read_through_their_doors():
    past = [
        f"{module} reads {other}"
        for module in FILES
        for other in modules_read(module)
        if room(other) in BEHIND_A_DOOR and room(module) != room(other) and other.count(".") > 1
    ]
    assert not past


def knots(graph):
    """Strongly connected components of more than one file (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(v):
        order[v] = low[v] = len(order)
        stack.append(v)
        for w in graph[v]:
            if w not in order:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == order[v]:
            component = stack[stack.index(v) :]
            del stack[stack.index(v) :]
            if len(component) > 1:
                found.append(sorted(component))

    for v in graph:
        if v not in order:
            visit(v)
    return found


def test_knots_are_found():
    assert knots({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == [["b", "c"]]


def test_no_files_form_a_knot():
    graph = {
        module: {other for other in modules_read(module) if other in FILES and other != module}
        for module in FILES
    }
    assert not knots(graph)


def test_one_class_name_one_class():
    places = defaultdict(list)
    for module in FILES:
        for node in tree(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_no_file_holds_two_ideas():
    lines = {module: len(path.read_text().splitlines()) for module, path in FILES.items()}
    assert not {module: n for module, n in lines.items() if n > MAX_LINES}


def test_every_folder_of_python_files_is_a_package():
    """One without an `__init__` is left out of a wheel; git must not ignore it either."""
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    assert not [folder for folder in folders if not (folder / "__init__.py").is_file()]


VAGUE = r"found|made|told|done|given|held|known|kept|said|shown|taken|wanted|begun|gone|felt|led|meant|nearly"
"""Participles that say nothing of what a value is or what a function does."""
NOUNS = {
    "padding",
    "spring",
    "string",
    "bearing",
    "heading",
    "subheading",
    "damping",
    "speed",
    "embed",
    "meaning",
    "wiring",
}
"""Words that end like a participle and are none."""
DECORATORS = {"checked"}
"""A decorator says what the function below it is, as `cached_property` does."""
KINDS = {"anchored", "coupled", "driven", "fixed", "kneed", "prescribed", "rolling", "stepping"}
"""Adjectives that say which kind of what their module is about: a fixed joint, a kneed walker, contact by
stepping, a coupled constraint, as textbooks call them."""
NOUNS |= {"using", "implied"}
"""A preposition, `walker.using(slope=0.05)`; and a field of `System` that a protocol repeats."""


def test_no_function_is_named_by_a_participle_alone():
    """A function is a verb with its object, or the noun it returns."""
    participles = [
        f"{module}:{node.lineno} {node.name}"
        for module in FILES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and re.fullmatch(rf"_?({VAGUE}|[a-z]+(ed|ing))", node.name)
        and node.name.lstrip("_") not in NOUNS | KINDS | DECORATORS
    ]
    assert not participles


def test_no_variable_is_named_by_a_participle_alone():
    """A local carries the noun: `intervals`, not `found`."""
    participles = [
        f"{module}:{node.lineno} {node.id}"
        for module in FILES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and re.fullmatch(rf"_?({VAGUE})", node.id)
    ]
    assert not participles


def test_every_ignore_has_a_reason():
    """What a checker is told not to say is explained behind it."""
    silent = [
        f"{module}:{k}"
        for module, path in FILES.items()
        for k, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(r"# type: ignore(\[[\w, -]+\])?\s*$|# noqa(: *[A-Z0-9, ]+)?\s*$", line)
    ]
    assert not silent


def test_every_file_of_data_is_installed():
    """What the package reads besides its modules is in the list of what is installed."""
    settings = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text())["tool"]["setuptools"]
    installed = {
        path
        for package, patterns in settings["package-data"].items()
        for pattern in patterns
        for path in SOURCE.parent.joinpath(*package.split(".")).glob(pattern)
    }
    files = {path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert not {str(path) for path in files - installed if path.suffix != ".py"}
