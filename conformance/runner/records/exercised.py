"""How much of what its claims promise was exercised of a backend: what ``promised`` counts, as a sentence too."""

from __future__ import annotations

from typing import Final

import msgspec

SHOWN: Final = 4
"""Promises that a sentence names; how many more there are it counts."""


class Exercised(msgspec.Struct, frozen=True, kw_only=True):
    """Of so many things that claims have ``promised``, the ``missing`` ones, which no judged case showed."""

    promised: int
    missing: tuple[str, ...] = ()

    @property
    def met(self) -> int:
        """Return how many were exercised."""
        return self.promised - len(self.missing)

    @property
    def share(self) -> float:
        """Return the part that was exercised."""
        return self.met / self.promised if self.promised else 1.0

    def __str__(self) -> str:
        """Return one sentence for people."""
        told = (
            f"{self.met} of the {self.promised} operations and words that it claims were exercised ({self.share:.0%})"
        )
        more = len(self.missing) - SHOWN
        left = ", ".join(self.missing[:SHOWN]) + (f" and {more} more" if more > 0 else "")
        return f"{told}; no judged case has {left}" if left else told
