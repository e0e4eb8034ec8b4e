"""The one way the oracle says that a program has no meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Rejected(ValueError):
    """The arguments break ``clause``; the message says what was wrong and what would be right.

    Where ranks run different steps or die, ``ranks`` are those who cannot go on, and ``results`` what all others have:
    a block for each rank that has one. Elsewhere the program as a whole has no meaning, and ``ranks`` is ``None``.
    """

    def __init__(
        self,
        clause: str,
        message: str,
        ranks: tuple[int, ...] | None = None,
        results: Mapping[str, list[Any]] | None = None,
    ) -> None:
        """Reject by ``clause``, with a ``message`` for people."""
        super().__init__(message)
        self.clause = clause
        self.ranks = ranks
        self.results = dict(results or {})
