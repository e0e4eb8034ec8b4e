"""The kill matrix: the suite itself judged by backends that are broken on purpose."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from conformance.report.error import ReportError, content


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """A broken backend, and the clause that caught it (``None`` when it survived).

    ``breaks`` is the clause it was made for and ``clauses`` all that broke; ``corpus`` are real defects like it.
    """

    name: str
    killed: bool
    clause: str | None = None
    breaks: str | None = None
    clauses: tuple[str, ...] = ()
    corpus: tuple[str, ...] = ()
    cases: int = 0
    seconds: float = 0.0
    doc: str = ""


class Uncovered(msgspec.Struct, frozen=True, kw_only=True):
    """A real defect that no mutant stands for, and what the suite would need to see it."""

    id: str
    url: str
    missing: str


class Qualification(msgspec.Struct, frozen=True):
    """What ``conformance qualify --json`` prints, as far as a report shows it."""

    mutants: tuple[Mutant, ...] = ()
    uncovered: tuple[Uncovered, ...] = ()


UNQUALIFIED: Final = Qualification()
"""Of a suite that nobody judged."""


def read_qualification(path: Path) -> Qualification:
    """Return what ``conformance qualify --json`` printed; raise ``ReportError`` when it is malformed."""
    try:
        found = msgspec.json.decode(content(path), type=Qualification)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReportError(f"{path} is not the output of `conformance qualify --json`: {error}") from None
    for one in found.uncovered:
        if not one.url.startswith("https://"):
            raise ReportError(f"{path}: the address of {one.id!r} must begin with https://, got {one.url!r}")
    if not found.mutants:
        raise ReportError(f"{path} is not the output of `conformance qualify --json`: it names no mutants")
    return found
