"""What must hold: one short file for each operation, and the clauses that several share."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from conformance.judging.clause import Clause
from conformance.specs.op import Op


def _ops() -> dict[str, Op]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = [module.OP for module in modules if hasattr(module, "OP")]
    return {op.name: op for op in sorted(found, key=lambda op: op.name)}


OPS: Final = _ops()
"""Every operation by name: a module of this package with an ``OP``."""


SHARED: Final = tuple({clause.id: clause for op in OPS.values() for clause in op.shares}.values())
"""The clauses that several operations have in common, in families."""


def clauses_of(op: str) -> tuple[Clause, ...]:
    """Return the clauses that may speak about a case of ``op``: the shared ones, then its own."""
    return OPS[op].shares + OPS[op].clauses


def every_clause() -> dict[str, Clause]:
    """Return all clauses by id."""
    return {clause.id: clause for op in OPS.values() for clause in clauses_of(op.name)}


__all__ = ["OPS", "SHARED", "Clause", "Op", "clauses_of", "every_clause"]
