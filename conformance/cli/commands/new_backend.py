"""``conformance new-backend``: a backend that works, and its test, to begin with."""

from __future__ import annotations

import keyword
import sys
from importlib.machinery import PathFinder
from importlib.resources import files
from pathlib import Path

import click

from conformance.cli.opening import output
from conformance.cli.parameter_types import Written
from conformance.cli.problems import Problem
from conformance.cli.progress import printer


@click.command("new-backend")
@click.argument("name")
@click.option("-o", "--output", "directory", type=Written(), default=Path(), help="Folder [default: this one].")
def command(name: str, directory: Path) -> int:
    """Write NAME.py, a backend that works, and test_NAME.py."""
    module = name.replace("-", "_")
    if not module.isidentifier() or keyword.iskeyword(module):
        raise click.UsageError(f"{name!r} is no name for a module; write letters, digits and _, such as acme")
    words = {"MODULE": module, "CLASS": "".join(part.capitalize() for part in module.split("_")) or "Mine"}
    wanted = {directory / f"{module}.py": "backend.py.txt", directory / f"test_{module}.py": "test.py.txt"}
    for path in wanted:
        if path.exists():
            raise Problem(f"{path} exists and was left as it is; choose another name, or another folder with -o")
    if module in sys.stdlib_module_names or PathFinder.find_spec(module):
        raise click.UsageError(f"a module {module!r} is there already, and {module}.py would hide it; choose another")
    with output(directory):
        for path, text in wanted.items():
            path.write_text(_filled(text, words), encoding="utf-8")
    console = printer()
    for path in wanted:
        console.print(f"wrote {path}", markup=False)
    where = f"cd {directory} && " if directory != Path() else ""
    console.print(f"next: {where}conformance smoke -b {module}:{words['CLASS']}", markup=False)
    return 0


def _filled(name: str, words: dict[str, str]) -> str:
    text = (files("conformance.cli") / "skeleton" / name).read_text(encoding="utf-8")
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text
