"""What must hold: one short file for each operation and each suite, and the clauses that several share.

Nothing here draws a case (``generate``), computes a meaning (``reference``) or knows how an answer is compared
(``judging``): a clause is a sentence with its sources, and names the check that decides it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import Final

from conformance.judging.clause import Clause
from conformance.specs import suites
from conformance.specs.op import Op
from conformance.specs.operations import OPS
from conformance.specs.suite import Suite


def _modules(room: ModuleType) -> list[ModuleType]:
    return [import_module(f"{room.__name__}.{module.name}") for module in iter_modules(room.__path__)]


def _suites() -> dict[str, Suite]:
    base = Suite("collectives", "What an operation returns, and what it refuses.", ops=tuple(OPS))
    found = [module.SUITE for module in _modules(suites) if hasattr(module, "SUITE")]
    return {suite.name: suite for suite in (base, *sorted(found, key=lambda suite: suite.name))}


SUITES: Final = _suites()
"""Every suite by name: the one of all operations, and each module of ``suites`` with a ``SUITE``."""


SHARED: Final = tuple(
    {
        clause.id: clause
        for clauses in ([op.shares for op in OPS.values()], [suite.clauses for suite in SUITES.values()])
        for family in clauses
        for clause in family
    }.values()
)
"""The clauses that several operations have in common, in families."""

# Of particular clauses the last is to blame: what happens in a program before which number a collective comes to.
_ORDERED: Final = sorted(SUITES.values(), key=lambda suite: not any(clause.each for clause in suite.clauses))

_OF: Final = {
    name: (
        *op.shares,
        *(clause for suite in _ORDERED if name in suite.ops for clause in suite.clauses),
        *op.clauses,
    )
    for name, op in OPS.items()
}


def clauses_of(op: str) -> tuple[Clause, ...]:
    """Return the clauses that may speak about a case of ``op``: the shared ones, then its own."""
    return _OF[op]


@cache
def every_clause() -> Mapping[str, Clause]:
    """Return all clauses by id."""
    return MappingProxyType({clause.id: clause for op in OPS.values() for clause in clauses_of(op.name)})


__all__ = ["OPS", "SHARED", "SUITES", "Clause", "Op", "Suite", "clauses_of", "every_clause"]
