"""What MkDocs does besides turning pages into HTML: bring the examples along, and list what every room
exports.

Pages link to `../examples/...`, as they stand in the repository; in the site the examples lie beside the
pages. A page of the reference says `::: strut.ROOM`, and gets everything in `__all__` of that room, each
name from the file that defines it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
BESIDE = {"changes.md": ROOT / "CHANGELOG.md", "contributing.md": ROOT / "CONTRIBUTING.md"}
"""Pages of the site that stand at the top of the repository."""


def on_files(files: Files, config: Any) -> Files:
    """Add the examples, and the pages from the top of the repository."""
    for path in sorted((ROOT / "examples").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            name = path.relative_to(ROOT).as_posix()
            files.append(
                File.generated(config, name, abs_src_path=str(path), inclusion=InclusionLevel.INCLUDED)
            )
    for name, path in BESIDE.items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links as they are in the site, and the names of a room."""
    if page.file.src_uri in BESIDE:
        markdown = markdown.replace("](docs/", "](").replace("](CHANGELOG.md)", "](changes.md)")
    markdown = markdown.replace("](../examples/", "](examples/")
    return re.sub(
        r"^::: strut(\.\w+)?$",
        lambda found: room_listing("strut" + (found[1] or "")),
        markdown,
        flags=re.MULTILINE,
    )


def module_file(module: str) -> Path | None:
    """Where a module of ours stands, or None."""
    path = SOURCE.joinpath(*module.split("."))
    return next((p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()), None)


def imports_of(module: str) -> tuple[dict[str, str], list[str]]:
    """What a module imports from the package, each name with its full path, and its `__all__`."""
    path = module_file(module)
    assert path is not None, f"there is no module {module}"
    origins: dict[str, str] = {}
    names: list[str] = []
    for node in ast.walk(
        ast.parse(path.read_text(encoding="utf-8"))
    ):  # also what is imported for typing alone
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "strut":
            origins |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names = ast.literal_eval(node.value)
    return origins, names


def defining_path(path: str) -> str:
    """The full path of a name where it is defined, through as many imports as there are."""
    module, _, name = path.rpartition(".")
    file = module_file(module)
    if file is None or file.name != "__init__.py" or module == "strut":
        return path
    origin = imports_of(module)[0].get(name, path)
    return path if origin == path else defining_path(origin)


def exported_names(module: str) -> dict[str, str]:
    """`__all__` of a module: every name, and the full path of what defines it."""
    origins, names = imports_of(module)
    return {name: defining_path(origins.get(name, f"{module}.{name}")) for name in names}


def room_listing(module: str) -> str:
    """The reference of a room: a section for each name in its `__all__`, or for the package, a table of
    where each is described."""
    file = module_file(module)
    if file is None or file.name != "__init__.py":
        return f"::: {module}"  # a single file: mkdocstrings does it alone
    exported = exported_names(module)
    if module == "strut":
        rows = [
            f"| `strut.{name}` | {reference(path)} |"
            for name, path in exported.items()
            if not name.startswith("__")
        ]
        return "\n".join(["| name | defined in |", "|---|---|", *rows])
    return "\n\n".join(f"::: {path}" for path in exported.values() if not is_foreign(path))


def is_foreign(path: str) -> bool:
    """Whether a name is only handed on from another package, which describes it."""
    module, _, name = path.rpartition(".")
    file = module_file(module)
    if file is None or module_file(path) is not None:
        return False
    imports = (
        node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)
    )
    return any(name == (alias.asname or alias.name) for node in imports for alias in node.names)


def reference(path: str) -> str:
    """A link to where a room, or a name in one, is described."""
    room = path.removeprefix("strut.")
    return f"[{path}]({room}.md)" if "." not in room else f"[{path}][{path}]"
