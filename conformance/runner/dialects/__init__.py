"""The dialects of cases, one module each with a ``DIALECT``, and what is found among all of them.

Here: how cases of a dialect are drawn, stored, asked about, judged and made smaller, as functions of one value.
Not here: what they mean (``reference``), and what must hold (``specs``).
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.declarations.terms import Terms
from conformance.cases.tensor.stored import read_document
from conformance.judging.clause import AnyClause
from conformance.runner.dialect import AnyDialect, DialectSuite, Trial


@cache
def dialects() -> dict[str, AnyDialect]:
    """Return every dialect by name, that of programs first."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found: list[AnyDialect] = [module.DIALECT for module in modules if hasattr(module, "DIALECT")]
    return {each.name: each for each in sorted(found, key=lambda each: (each.name != "spmd", each.name))}


@cache
def suites() -> dict[str, DialectSuite[Any]]:
    """Return every suite by name."""
    return {name: suite for dialect in dialects().values() for name, suite in dialect.suites.items()}


@cache
def operations() -> dict[str, AnyDialect]:
    """Return every operation that cases are recorded under, with its dialect."""
    return {op: dialect for dialect in dialects().values() for op in dialect.ops}


@cache
def further_clauses() -> dict[str, AnyClause]:
    """Return, by id, the clauses of every dialect but that of programs of collectives."""
    others = [dialect for name, dialect in dialects().items() if name != "spmd"]
    return {clause.id: clause for each in others for op in each.ops for clause in each.clauses(op, Terms())}


def dialect_of(case: object) -> AnyDialect:
    """Return the dialect that a case is of; raise ``TypeError`` where it is of none."""
    for dialect in dialects().values():
        if isinstance(case, dialect.case):
            return dialect
    raise TypeError(f"{type(case).__name__} is a case of no dialect; the dialects are {', '.join(dialects())}")


def name_of(case: object) -> str:
    """Return the id of a case of any dialect."""
    return dialect_of(case).id_of(case)


def trial(case: object, suite: str = "collectives", name: str | None = None) -> Trial | None:
    """Return a case with what it means, ``None`` for a draw that is none; raise ``ValueError`` when it is malformed."""
    dialect = dialect_of(case)
    subject = dialect.mean(case)
    return None if subject is None else Trial(name or dialect.id_of(case), case, subject, dialect, suite)


def save_case(case: object, path: Path) -> None:
    """Write a case of any dialect; raise ``OSError`` when that cannot be."""
    dialect_of(case).save(case, path)


class _Envelope(msgspec.Struct):
    dialect: str = "spmd"


def load_case(path: Path) -> Any:
    """Return the case in the file ``path``, whichever its dialect; raise ``CaseError`` for anything but a sound one."""
    try:
        said = msgspec.json.decode(read_document(path), type=_Envelope).dialect
    except msgspec.ValidationError:
        said = "spmd"  # whose reader says what is wrong with it
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CaseError(f"case file {path}: it is not JSON: {error}") from None
    except RecursionError:
        raise CaseError(f"case file {path}: it is nested too deeply") from None
    except CaseError as error:
        raise CaseError(f"case file {path}: {error}") from None
    known = dialects()
    if said not in known:
        raise CaseError(f"case file {path}: its dialect is {said!r:.80}; this suite reads {', '.join(known)}")
    return known[said].load(path)
