"""How much work a document asks for that is handed in, counted from its shapes before any of it is begun.

Work is counted in steps of 10 ns of one core: what NumPy takes for an element or two. What Python does one at a time
counts as many steps.
"""

from __future__ import annotations

from typing import Final

from conformance.cases.limit import Limit, NamedAmount

__all__ = ["MOST_WORK", "VARIABLE", "NamedAmount", "allowed_work", "check_work"]

VARIABLE: Final = "CONFORMANCE_MOST_WORK"
"""What the environment calls how many steps a document may ask for."""

MOST_WORK: Final = 1 << 33
"""Steps of one document, where the environment says nothing else: some 90 s of one core, with all that is asked twice.

No drawn case asks for a quarter of it (29 November 2026, ``tests/cases/test_work.py``).
"""


def _shown(steps: int) -> str:
    """Return a number of steps in words; one too long to be written is more than a number that is not."""
    return f"{steps / 1e9:.2f} * 10^9" if steps < 1 << 60 else "more than 10^18"


_WORK: Final = Limit(
    VARIABLE,
    "steps",
    MOST_WORK,
    _shown,
    "{where}: up to here judging it takes {total} steps, over the limit of {most}",
)

check_work: Final = _WORK.check
allowed_work: Final = _WORK.allowed
