"""Schedules that each break one clause and no other: what shows that the clauses can fail.

Here: one file a group of clauses, in which schedules are written by hand.
Not here: engines that schedule wrongly (``schedule_mutants``), and schedules that are right (``legal_schedules``).
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from conformance.qualification.violations.violation import Violation


def violations() -> tuple[Violation, ...]:
    """Return every violation: each module of this package defines some."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return tuple(each for module in modules for each in vars(module).values() if isinstance(each, Violation))


__all__ = ["Violation", "violations"]
