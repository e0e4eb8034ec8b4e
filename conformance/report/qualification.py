"""The kill matrix: the suite itself judged by backends that are broken on purpose."""

from __future__ import annotations

from pathlib import Path

import msgspec

from conformance.report.error import ReportError


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


class _Qualification(msgspec.Struct, frozen=True):
    mutants: tuple[Mutant, ...]


def read_qualification(path: Path) -> tuple[Mutant, ...]:
    """Return the mutants in what ``conformance qualify --json`` printed; raise ``ReportError`` when it is malformed."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Qualification).mutants
    except OSError as error:
        raise ReportError(f"{path} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ReportError(f"{path} is not the output of `conformance qualify --json`: {error}") from None
