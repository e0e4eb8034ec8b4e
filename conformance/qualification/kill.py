"""One row of the kill matrix."""

from __future__ import annotations

import msgspec


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """What the suite made of one mutant.

    ``clause`` is to blame for the first failure, after ``cases`` distinct cases and ``seconds`` (start-up included);
    ``clauses`` are all that were seen broken until ``breaks`` was. ``killed`` means that it failed and, where it
    says which clause it ``breaks``, that this is among them.
    """

    name: str
    breaks: str | None
    killed: bool
    clause: str | None
    clauses: tuple[str, ...]
    cases: int
    seconds: float
    doc: str
    corpus: tuple[str, ...]
