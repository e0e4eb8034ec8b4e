"""What asking the same cases of a backend again showed."""

from __future__ import annotations

from typing import Final

import msgspec

NAMED: Final = 20
"""Cases that are named whose answers differ and whose outcome does not; how many there are is counted."""


class Repeated(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the cases of one backend came out that were asked ``times`` times, the first among them.

    ``cases`` were judged each time, and ``fewer`` not, because the time was spent or their operation given up.
    ``flaky`` is how many of both came to different outcomes. ``varying`` is how many came to one outcome with different
    answers: other bits, which no clause forbids, or other words of an error; the first of them are ``named``.
    """

    times: int
    cases: int = 0
    fewer: int = 0
    flaky: int = 0
    varying: int = 0
    named: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return it in a sentence without its end."""
        told = f"{self.cases} case{'s' * (self.cases != 1)} asked {self.times} times: {self.flaky} flaky"
        told += f", {self.varying} with one outcome and different answers" if self.varying else ""
        return told + (f"; {self.fewer} more were not judged every time" if self.fewer else "")
