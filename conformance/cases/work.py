"""How much work a document asks for that is handed in, counted from its shapes before any of it is begun.

Work is counted in steps of 10 ns of one core: what NumPy takes for an element or two. What Python does one at a time
counts as many steps. Counts are upper bounds, made of the text of a document alone, sound or not.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from conformance.cases.case_error import CaseError

VARIABLE: Final = "CONFORMANCE_MOST_WORK"
"""What the environment calls how many steps a document may ask for."""

MOST_WORK: Final = 1 << 33
"""Steps of one document, where the environment says nothing else: some 90 s of one core, with all that is asked twice.

No drawn case asks for a quarter of it (29 November 2026, ``tests/cases/test_work.py``).
"""

Part = tuple[str, int]
"""What is to be done, in words, and how many steps that takes at most."""


def check_work(parts: Iterable[Part]) -> None:
    """Raise ``CaseError`` where a document asks for more work than is allowed; it names the first part too much."""
    total, most = 0, allowed_work()
    for where, steps in parts:
        total += steps
        if total > most:
            raise CaseError(
                f"{where}: up to here judging it takes {_shown(total)} steps, over the limit of {_shown(most)}; "
                f"{VARIABLE}=STEPS in the environment allows more"
            )


def allowed_work() -> int:
    """Return how many steps a document may ask for; raise ``CaseError`` where the environment says no number."""
    said = os.environ.get(VARIABLE)
    if said is None:
        return MOST_WORK
    if not (said.isascii() and said.isdigit() and 0 < len(said) < 20 and int(said)):
        raise CaseError(f"{VARIABLE} is {said!r:.80}; it should be a number of steps, such as {MOST_WORK}")
    return int(said)


def _shown(steps: int) -> str:
    """Return a number of steps in words; one too long to be written is more than a number that is not."""
    return f"{steps / 1e9:.2f} * 10^9" if steps < 1 << 60 else "more than 10^18"
