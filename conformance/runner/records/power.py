"""What a run is able to see, as a value: the share of automatic mutants that it kills."""

from __future__ import annotations

from typing import Final

import msgspec

CONFIDENCE: Final = 0.95


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Of ``mutants`` so many were ``seen``; with 95 % confidence a run sees at least the share ``least`` of such."""

    mutants: int
    seen: int
    share: float
    least: float


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """What a run can see of the corpus, in all and by family; ``full`` is what the whole default profile sees."""

    total: Share
    full: Share
    families: dict[str, Share]
    confidence: float = CONFIDENCE

    def __str__(self) -> str:
        """Return one sentence for people."""
        if not self.total.mutants:
            return "what this run can see was not measured"
        lower = "" if self.total.seen == self.full.seen else f"; the whole profile {self.full.share:.0%}"
        return (
            f"a run like this kills {self.total.share:.0%} of {self.total.mutants} automatic mutants "
            f"(at least {self.total.least:.0%} with {self.confidence:.0%} confidence{lower})"
        )
