"""A backend in C to begin with: the kit, which speaks the worker protocol, and a program that ``cc`` alone builds."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Final

import click

from conformance.cli.opening import output
from conformance.cli.problems import Problem
from conformance.cli.progress import printer

KIT: Final = ("conformance.h", "conformance_read.h", "conformance.c")
"""The files of the kit, which are the same for every backend; ``conformance.c`` is the one that is compiled."""

LONGEST: Final = 60
"""Characters of a name; it becomes that of a file and stands in the log of every run."""

_BEGIN: Final = "backend.c.txt"


def write_c_backend(name: str, directory: Path) -> int:
    """Write the kit and ``NAME.c`` to ``directory`` and return the exit status.

    Raise ``Problem`` where a file is there already, but for one of the kit that is as it would be written.
    """
    if not re.fullmatch(rf"[A-Za-z][A-Za-z0-9_-]{{0,{LONGEST - 1}}}", name) or f"{name}.c" in KIT:
        raise click.UsageError(f"{name!r} is no name for a program; write letters, digits, - and _, such as acme")
    wanted = {directory / one: text(one) for one in KIT}
    wanted[directory / f"{name}.c"] = text(_BEGIN).replace("MODULE", name)
    wanted = {path: content for path, content in wanted.items() if not _is_so(path, content)}
    for path in filter(os.path.lexists, wanted):
        raise Problem(f"{path} exists and was left as it is; choose another name, or another folder with -o")
    with output(directory):
        for path, content in wanted.items():
            path.write_text(content, encoding="utf-8")
    console = printer()
    for path in wanted:
        console.print(f"wrote {path}", markup=False)
    where = f"cd {directory} && " if directory != Path() else ""
    build = f"cc -std=c99 -O2 -o {name} {name}.c conformance.c"
    console.print(f"next: {where}{build} && conformance smoke -b ./{name}", markup=False, soft_wrap=True)
    return 0


def text(name: str) -> str:
    """Return the text of a file of the kit, or of the program to begin with."""
    return (files("conformance.cli") / "skeleton" / "c" / name).read_text(encoding="utf-8")


def _is_so(path: Path, content: str) -> bool:
    return path.name in KIT and path.is_file() and path.read_bytes() == content.encode()
