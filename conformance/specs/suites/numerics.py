"""The suite of numbers: reductions whose order of operations, or whose special values, decide the result."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.reference.operations import FOLDED
from conformance.specs.families.numeric_clauses import CLAUSES
from conformance.specs.suite import Suite

SUITE: Final = Suite(
    "numerics",
    "Results that depend on the order of operations, and special values.",
    ops=tuple(FOLDED),
    clauses=tuple(replace(clause, suite="numerics") for clause in CLAUSES),
)
