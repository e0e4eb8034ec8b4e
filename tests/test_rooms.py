"""Imports between the rooms go one way: as the table of docs/architecture.md has them, and never in a circle."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "architecture.md").read_text()
ROOMS = {
    name: {word.strip(" `") for word in allowed.split(",")} - {"nothing of ours"}
    for names, allowed in re.findall(r"^\| (`conformance/.*?) \|.*\| (.*?) \|$", TEXT, re.MULTILINE)
    for name in re.findall(r"`conformance/(.*?)/?`", names)
}
"""What each room may import: the rows of the table; the longest name that fits a file is its room."""

FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "conformance").rglob("*.py"))
}
"""The modules of the package."""


def room(module: str) -> str:
    """Return the room of a module; the package itself, which has its version alone, is in none."""
    below = module.removeprefix("conformance").removeprefix(".").replace(".", "/")
    fits = [name for name in ROOMS if f"{below}/".startswith(f"{name.removesuffix('.py')}/")]
    return max(fits, key=len, default="" if module == "conformance" else f"{module} has no room")


@cache
def imported(module: str) -> frozenset[str]:
    """Return the modules of ours that a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(FILES[module].read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            found.update(name if name in FILES else node.module for name in below)
    return frozenset(found & FILES.keys())


def test_every_module_is_in_a_room_of_the_table() -> None:
    assert [module for module in FILES if room(module).endswith("has no room")] == []


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_imports_what_the_table_allows(name: str) -> None:
    allowed = {*(ROOMS if "everything" in ROOMS[name] else ROOMS[name]), name, ""}
    modules = [module for module in FILES if room(module) == name]
    assert modules
    assert [
        f"{module} imports {other}" for module in modules for other in imported(module) if room(other) not in allowed
    ] == []


def test_the_modules_import_each_other_in_no_circle() -> None:
    TopologicalSorter({module: imported(module) - {module} for module in FILES}).prepare()


def test_folders_that_lie_beside_each_other_import_one_way() -> None:
    beside = {(one, other) for one, other in folder_imports() if not f"{one}.".startswith(f"{other}.")}
    assert [edge for edge in beside if edge[::-1] in beside] == []


def test_the_folders_in_a_folder_import_each_other_in_no_circle() -> None:
    for name in {folder(module) for module in FILES}:
        edges: dict[str, set[str]] = {}
        for one, two in ((below(one, name), below(other, name)) for one, other in folder_imports()):
            if one and two and one != two:
                edges.setdefault(one, set()).add(two)
        TopologicalSorter(edges).prepare()


def below(inner: str, name: str) -> str:
    """Return which of the folders in the folder ``name`` another one is, or is in; nothing if it is not in it."""
    return inner.removeprefix(f"{name}.").partition(".")[0] if inner.startswith(f"{name}.") else ""


@cache
def folder_imports() -> frozenset[tuple[str, str]]:
    """Return which folder imports from which."""
    return frozenset((folder(module), folder(other)) for module in FILES for other in imported(module))


def folder(module: str) -> str:
    """Return the folder of a module, as the name of a package."""
    return ".".join(FILES[module].relative_to(ROOT).parts[:-1])


def test_the_table_allows_no_two_rooms_to_import_each_other() -> None:
    known = {name: allowed for name, allowed in ROOMS.items() if allowed != {"everything"}}
    assert set().union(*known.values()) <= known.keys()
    TopologicalSorter(known).prepare()


def test_every_file_that_the_architecture_names_is_there() -> None:
    tops = "|".join(sorted({name.partition("/")[0] for name in ROOMS if "." not in name}))
    named = re.findall(rf"`(?:conformance/)?((?:{tops})/[\w/.]*)`", TEXT)
    assert [name for name in named if not (ROOT / "conformance" / name).exists()] == []
