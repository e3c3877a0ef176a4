"""The documentation hangs together: every page can be reached, every room is described, files that are named are there."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.gallery import entries

ROOT = Path(__file__).parents[1]
DOCS, SOURCE = ROOT / "docs", ROOT / "src" / "strut"
BESIDE = {"changes.md": ROOT / "CHANGELOG.md", "contributing.md": ROOT / "CONTRIBUTING.md"}
MAX_PICTURE_BYTES = 60_000
"""Of one picture of the gallery: the page is read over slow lines, too."""
ELSEWHERE = re.compile(r"""(?:<script[^>]*\ssrc|<link[^>]*\shref|<img[^>]*\ssrc)=["']?(https?:)?//""")


def nav_files():
    """The pages that mkdocs.yml names, in order. They are the values of its nav, a plain list, so no YAML is needed."""
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    return re.findall(r"^\s+- [^:\n]+: (\S+\.md)$", nav, flags=re.MULTILINE)


def rooms():
    return sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


def test_the_nav_names_pages_that_exist_and_every_page():
    named = nav_files()
    assert len(named) == len(set(named)) > 30
    for name in named:
        assert BESIDE.get(name, DOCS / name).is_file(), name
    assert {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | set(BESIDE) == set(named)


def test_every_room_has_a_page_of_the_reference():
    assert rooms()
    for room in rooms():
        page = DOCS / "reference" / f"{room}.md"
        assert page.is_file(), f"the room {room} has no {page.relative_to(ROOT)}"
        assert f"::: strut.{room}\n" in page.read_text(encoding="utf-8")


def test_every_room_says_what_it_exports():
    """The reference is made from `__all__`."""
    for room in rooms():
        tree = ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8"))
        assigned = [
            node
            for node in tree.body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        ]
        assert assigned, room
        assert ast.get_docstring(tree), room


def test_files_that_the_design_page_names_exist():
    text = (DOCS / "design.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:\w+/)*[\w*]+\.(?:py|h|lark))`", text):
        start = ROOT if name.startswith(("tests/", "docs/")) else SOURCE
        matches = list(start.glob(name)) or list(start.rglob(name))
        assert matches, f"docs/design.md names {name}, which is nowhere"


def test_the_design_page_names_every_room():
    text = (DOCS / "design.md").read_text(encoding="utf-8").split("## The waist")[0]
    for room in rooms():
        assert re.search(rf"\b{room}\b", text), room


def test_the_gallery_has_small_pictures_that_are_made_again():
    makers = (DOCS / "make_pictures.py").read_text(encoding="utf-8")
    pictures = {path.name for path in (DOCS / "pictures").iterdir()}
    used = {
        Path(name).name
        for page in ("gallery.md", "index.md")
        for name in re.findall(r"pictures/[\w.]+", (DOCS / page).read_text())
    }
    assert used == pictures
    assert {Path(entry.picture).name for entry in entries().values()} <= pictures
    for name in pictures:
        assert (DOCS / "pictures" / name).stat().st_size < MAX_PICTURE_BYTES, name
        assert f"def {Path(name).stem}(place" in makers, name


def test_every_network_example_stands_in_the_gallery():
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    for path in (ROOT / "examples").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            assert f"(../examples/{path.relative_to(ROOT / 'examples').as_posix()})" in text, path


def test_the_citation_is_of_this_version():
    from strut.version import VERSION

    assert f"version: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def site_module(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_lines_that_tell_of_arguments_become_a_list():
    pytest.importorskip("griffe")
    text = "Does it.\n\na, b: of the one. c: of the other,\nand more.\nIt ends.\nd: no argument"
    assert site_module("docstrings").with_lists(text, {"a", "b", "c"}) == (
        "Does it.\n\n- **a, b**: of the one.\n- **c**: of the other,\n  and more.\n\nIt ends.\nd: no argument"
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        assert not ELSEWHERE.search(page.read_text(encoding="utf-8")), page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"""(@import|url\()\s*["']?(https?:)?//""", sheet.read_text(encoding="utf-8")), (
            sheet
        )


def test_links_between_the_pages_of_the_site_lead_somewhere(site):
    for page in set(site.rglob("*.html")) - {
        site / "404.html"
    }:  # which is for servers alone, with links from their root
        for link in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.relative_to(site)} links to {link}"


def test_the_reference_has_what_the_rooms_export(site):
    hooks = site_module("hooks")
    for room in rooms():
        text = (site / "reference" / f"{room}.html").read_text(encoding="utf-8")
        for name, path in hooks.exported_names(f"strut.{room}").items():
            if not hooks.is_foreign(path):
                assert f'id="{path}"' in text, f"{room}.{name}"
