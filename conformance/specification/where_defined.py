"""Where clauses and their checks stand in the repository."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance.judging.clause import AnyClause

ROOT: Final = Path(__file__).parents[2]


@cache
def _sources() -> list[tuple[str, str]]:
    """Return each file of the specification that can have clauses, with its text."""
    found = sorted((ROOT / "conformance" / "specs").rglob("*.py"))
    return [(str(file.relative_to(ROOT)), file.read_text()) for file in found if "domain" not in str(file.parent)]


def clause_place(clause: AnyClause) -> str:
    """Return the file and line where the id or the sentence of a clause stands; nothing where both are put together."""
    begin = clause.text[:40].partition("`")[0].rstrip()
    for sought in (f'"{clause.id}"', begin):
        for file, text in _sources():
            if (at := text.find(sought)) >= 0:
                return f"{file}:{text.count(chr(10), 0, at) + 1}"
    return ""


def check_place(clause: AnyClause) -> str:
    """Return the file and line of the function that checks a clause, or nothing."""
    return next((place for name in ("check", "find", "law") if (place := _of(getattr(clause, name, None)))), "")


def _of(function: Callable[..., Any] | None) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None) if function is not None else None
    if code is None:
        return ""
    file = Path(code.co_filename)
    return f"{file.relative_to(ROOT)}:{code.co_firstlineno}" if file.is_relative_to(ROOT) else ""


def places(clauses: Iterable[AnyClause]) -> dict[str, tuple[str, str]]:
    """Return, by id, where each clause is defined and where its check stands."""
    return {clause.id: (clause_place(clause), check_place(clause)) for clause in clauses}
