"""How the suite determinism is drawn."""

from __future__ import annotations

from typing import Final

from conformance.generate.calls.relating import related
from conformance.reference.operations import FOLDED, PARTS

SUITE: Final = "determinism"

DOMAINS: Final = {op: related(op) for op in FOLDED if op not in PARTS}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 1 / 3
"""The part of a run's examples that is drawn for each operation of the suite."""
