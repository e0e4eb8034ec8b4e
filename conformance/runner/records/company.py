"""What a record says of a case that was asked about in company, and what a run's records of it add up to."""

from __future__ import annotations

import msgspec

from conformance.judging.clause import Outcome


class Company(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A case was asked about as one ``of`` so many, whose results one compilation gave.

    Without ``alone`` its verdict is on its result there; ``alone`` says that it is the verdict on the case by itself,
    which was asked for because it, or the company, did not hold, or to see whether company hides anything. ``outcome``
    is what it came to in company where that is another one: *passed* where company hid what the case does alone, any
    other where it fails in company alone. Of that ``detail`` says more, ``cases`` are all of the company, in order,
    and ``times`` is how often it came to that.
    """

    of: int
    alone: bool = False
    outcome: Outcome | None = None
    detail: str | None = None
    cases: tuple[str, ...] = ()
    times: int = 1


class Companies(msgspec.Struct, frozen=True, kw_only=True):
    """Cases of one backend in a run: how many were ``settled`` in company, how many ``alone`` after it or as a sample.

    ``only`` are those that fail in company alone, ``hidden`` those that it hid: the names of both.
    """

    settled: int = 0
    alone: int = 0
    only: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
