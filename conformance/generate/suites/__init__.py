"""How each suite is drawn: one file each, with ``DOMAINS``, a choice of cases for each operation, and ``SHARE``.

Which clauses a suite speaks of stands in ``specs.suites``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from conformance.cases.case import Case
from conformance.generate.choices import Choice
from conformance.generate.deal import dealing
from conformance.specs import SUITES

WEIGHT: Final = {
    "all_reduce": 3.0,
    "reduce": 1.5,
    "reduce_scatter": 1.5,
    **dict.fromkeys(("axis_index", "axis_size", "barrier", "reduce_constant"), 1 / 3),
}
"""How many more or fewer cases an operation has than others. Dtypes and reductions come to 132 pairs. Those that take
no block have little to differ in: of 300 barriers, 120 did."""

_MODULES: Final = {
    module.SUITE: module for module in (import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__))
}


def _domains(suite: str) -> Mapping[str, Choice[Case]]:
    """Return what the cases of each operation of a suite are drawn from.

    Raises ``ImportError`` where these are not the operations that the suite is about.
    """
    if suite not in _MODULES:
        raise ImportError(f"no file of conformance/generate/suites says how the suite {suite!r} is drawn")
    found = _MODULES[suite].DOMAINS
    if set(found) != set(SUITES[suite].ops):
        unlike = ", ".join(sorted(set(found) ^ set(SUITES[suite].ops)))
        raise ImportError(f"the suite {suite!r} and its domains differ about these operations: {unlike}")
    return {op: domain if domain.name else dealing(f"{suite} {op}", domain) for op, domain in found.items()}


DOMAINS: Final[Mapping[str, Mapping[str, Choice[Case]]]] = {suite: _domains(suite) for suite in SUITES}
"""Of every suite, and each of its operations, what its cases are drawn from."""

SHARES: Final[Mapping[str, float]] = {suite: _MODULES[suite].SHARE for suite in SUITES}
"""The part of a run's examples that a suite draws for each of its operations, times the ``WEIGHT`` of that."""


def drawn(suite: str, op: str, examples: int) -> int:
    """Return how many cases of an operation a suite draws where ``examples`` are asked for."""
    return max(1, round(examples * SHARES[suite] * WEIGHT.get(op, 1.0)))
