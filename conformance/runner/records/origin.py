"""Where a case came from, as a record says it: the deck, or a draw."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

DECK: Final = "deck: "
"""How what a record says of a case of the deck begins; where the case is from follows."""

_FORM: Final = re.compile(r"(\w+)/(\w+)/(\d{1,20})/(\d{1,13})(/claims)?")


class Origin(NamedTuple):
    """The draw ``number`` of a suite for an operation, of a seed; ``claimed`` is one within the backend's claims."""

    suite: str
    op: str
    seed: int
    number: int
    claimed: bool = False

    def __str__(self) -> str:
        """Return it as a record has it: ``SUITE/OPERATION/SEED/NUMBER``, and ``/claims`` where it is ``claimed``."""
        return f"{self.suite}/{self.op}/{self.seed}/{self.number}{'/claims' if self.claimed else ''}"


def of_deck(origin: str) -> str:
    """Return what a record says of a case of the deck."""
    return f"{DECK}{origin}"


def origin_of(text: str) -> Origin | None:
    """Return the draw that a record names; ``None`` where it names none."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    suite, op, seed, number, claimed = found.groups()
    return Origin(suite, op, int(seed), int(number), claimed is not None)
