"""``conformance new-backend``: a backend that works and its test, or a package of both with continuous integration."""

from __future__ import annotations

import keyword
import os
import re
import sys
from importlib.machinery import PathFinder
from importlib.resources import files
from pathlib import Path
from typing import Final

import click

from conformance import __version__
from conformance.backends.discovery import installed
from conformance.cli.c_backend import write_c_backend
from conformance.cli.opening import output
from conformance.cli.parameter_types import WritablePath
from conformance.cli.problems import Problem
from conformance.cli.progress import printer

_PACKAGE: Final = {
    "pyproject.toml": "pyproject.txt",
    "README.md": "readme.md.txt",
    "noxfile.py": "noxfile.txt",
    "tox.ini": "tox.txt",
    ".github/workflows/conformance.yml": "workflow.txt",
    "ci/known.json": "known.txt",
}
"""What makes a package of a backend, by path, with the file that each is made of."""

_PROJECT: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?")


@click.command("new-backend")
@click.argument("name")
@click.option(
    "--language", type=click.Choice(["python", "c"]), default="python", help="What it is written in [python]."
)
@click.option("-o", "--output", "directory", type=WritablePath(), default=Path(), help="Folder [default: this one].")
@click.option("--ci", type=click.Choice(["github"]), help="Write a package, its sessions and its workflow too.")
def command(name: str, language: str, directory: Path, ci: str | None) -> int:
    """Write NAME.py, a backend that works, and test_NAME.py; or NAME.c and the kit for C, which needs cc alone.

    With --ci they are a package, which is judged by a job of every pull request and by another one every night.
    """
    if language == "c":
        if ci is not None:
            raise click.UsageError(
                "--ci writes a package of Python; a backend in C is judged by `conformance run -b ./NAME`"
            )
        return write_c_backend(name, directory)
    module = name.replace("-", "_")
    if not module.isidentifier() or keyword.iskeyword(module):
        raise click.UsageError(f"{name!r} is no name for a module; write letters, digits and _, such as acme")
    made = "".join(part.capitalize() for part in module.split("_")) or "Mine"
    words = {"MODULE": module, "CLASS": made, "PROJECT": name, "VERSION": __version__}
    package = _PACKAGE if ci else {}
    files_of = {f"{module}.py": "backend.py.txt", f"test_{module}.py": "test.py.txt", **package}
    wanted = {directory / path: text for path, text in files_of.items()}
    for path in wanted:
        if os.path.lexists(path):
            raise Problem(f"{path} exists and was left as it is; choose another name, or another folder with -o")
    if ci and not _PROJECT.fullmatch(name):
        raise click.UsageError(f"{name!r} is no name for a package; write letters of ASCII, digits, - and _")
    if ci and installed(name):
        raise click.UsageError(f"a backend {name!r} is installed already; choose another name")
    if module in sys.stdlib_module_names or PathFinder.find_spec(module):
        raise click.UsageError(f"a module {module!r} is there already, and {module}.py would hide it; choose another")
    with output(directory):
        for path, text in wanted.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_filled(text, words), encoding="utf-8")
    console = printer()
    for path in wanted:
        console.print(f"wrote {path}", markup=False)
    where = f"cd {directory} && " if directory != Path() else ""
    if ci:
        console.print(f"next: {where}python -m pip install -e '.[test]' && conformance smoke -b {name}", markup=False)
    else:
        console.print(f"next: {where}conformance smoke -b {module}:{made}", markup=False)
    return 0


def _filled(name: str, words: dict[str, str]) -> str:
    text = (files("conformance.cli") / "skeleton" / name).read_text(encoding="utf-8")
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text
