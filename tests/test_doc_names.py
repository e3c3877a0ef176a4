"""Names that the documentation uses exist: `room.name`, `Class.member` and `strut.room.file.name`, in pages and in docstrings."""

import ast
import functools
import importlib.util
import re
from pathlib import Path

import pytest

import strut

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "strut"
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]
ROOMS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
DOTTED = re.compile(r"(?<![\w./$\"'-])([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)+)")
FILES = re.compile(
    r"\.(py|h|c|md|toml|csv|cdn|html|svg|json|h5|png|urdf|xml|lark|js|cfg|yml|cff|npz|m|mp4|gif)$"
)
LANGUAGE = {"Inertia"}
"""Templates of the network language that are called like a class."""
INSTANCES = {"system": "System", "mechanism": "Mechanism", "network": "Network", "gait": "Gait"}
"""Rooms whose name is also what their first object is usually called: `system.p` is a field of a `System`."""


@functools.cache
def members():
    """The public classes of the package by name: what is defined in their bodies, set on self, or inherited."""
    own, bases = {}, {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ClassDef):
                continue
            names = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            for each in ast.walk(node):
                target = each.target if isinstance(each, ast.AnnAssign) else None
                stored = isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Store)
                for n in (target, each if stored else None):
                    names |= {getattr(n, "id", None) or getattr(n, "attr", "")} if n is not None else set()
            own[node.name] = own.get(node.name, set()) | names
            bases[node.name] = [b.id for b in node.bases if isinstance(b, ast.Name)]

    def everything(name):
        return own.get(name, set()).union(*(everything(b) for b in bases.get(name, ())))

    return {name: everything(name) for name in own}


def resolves(head, rest):
    """Is there such a thing? Heads that are no room and no class of ours are variables of the text."""
    if head == "strut":
        return rest == ["NAME"] or is_in_module("strut", rest)
    if head in members().keys() - LANGUAGE - set(ROOMS):
        return rest[0] in members()[head] or hasattr(getattr(strut, head, object), rest[0])
    if head in ROOMS:
        mine = INSTANCES.get(head)
        return is_in_module(f"strut.{head}", rest) or (mine is not None and rest[0] in members()[mine])
    return True


def is_in_module(module, rest):
    """Does a chain of attributes or modules lead anywhere? From an object on, only its own attributes count."""
    thing = importlib.import_module(module)
    for k, name in enumerate(rest):
        if hasattr(thing, name):
            thing = getattr(thing, name)
        elif isinstance(thing, type):
            return name in members().get(thing.__name__, ())
        else:
            try:
                thing = importlib.import_module(".".join([module, *rest[: k + 1]]))
            except ImportError:
                return False
    return True


def stale(spans):
    """The dotted names in pieces of code that lead nowhere."""
    return sorted(
        {
            match.group(0)
            for span in spans
            for match in DOTTED.finditer(span)
            if not FILES.search(match.group(0))
            and not resolves(match.group(1), match.group(2)[1:].split("."))
        }
    )


def test_stale_names_are_found():
    assert stale(
        ["gait.find(x)", "gait.lost_name", "System.walk", "System.gone", "strut.system.scene.KINDS"]
    ) == [
        "System.gone",
        "gait.lost_name",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_pages_exist(page):
    text = page.read_text(encoding="utf-8")
    text = re.sub(
        r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE
    )  # what is run is tested by running
    if page.name == "CHANGELOG.md":  # the first column has what was
        text = re.sub(r"^\|.*?[^\\]\|(?=.*\|$)", "", text, flags=re.MULTILINE)
    assert not stale(re.findall(r"`([^`\n]+)`", text))


def test_names_in_docstrings_exist():
    wrong = {}
    for path in sorted(SOURCE.rglob("*.py")):
        texts = [
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "`" in node.value
        ]
        names = stale(span for text in texts for span in re.findall(r"`([^`\n]+)`", text))
        if names:
            wrong[path.relative_to(SOURCE).as_posix()] = names
    assert not wrong


def stale_imports(path):
    """What a program imports of strut, or asks of a module of it that it imported, and is not there."""
    tree, wrong, modules = ast.parse(path.read_text(encoding="utf-8")), [], {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(each.name == "strut" for each in node.names):
            modules["strut"] = "strut"
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "strut":
            for each in node.names:
                if importlib.util.find_spec(node.module) is None or not is_in_module(
                    node.module, [each.name]
                ):
                    wrong.append(f"{node.lineno}: {node.module}.{each.name}")
                elif node.module == "strut" and each.name in ROOMS:
                    modules[each.asname or each.name] = f"strut.{each.name}"
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = node.value.id
            if name in modules and name not in bound and not is_in_module(modules[name], [node.attr]):
                wrong.append(f"{node.lineno}: {name}.{node.attr}")
    return wrong


def test_programs_beside_the_package_use_names_that_exist():
    """Benchmarks, examples and imports inside of tests are not all run at every change."""
    programs = [
        path for folder in ("bench", "examples", "tests", "docs") for path in (ROOT / folder).rglob("*.py")
    ]
    assert len(programs) > 100
    wrong = {path.relative_to(ROOT).as_posix(): stale_imports(path) for path in programs}
    assert not {path: names for path, names in wrong.items() if names}
