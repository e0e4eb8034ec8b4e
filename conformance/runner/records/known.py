"""A known failure: the entry of a file of them, and what a run found where it expected one."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

FailingOutcome = Literal["failed", "errored", "crashed", "timeout", "protocol_error"]

Kind = Literal["known_failure", "known_flake"]

State = Literal["as_expected", "unexpected_pass", "changed", "too_often", "expired", "not_run"]

STANDING: Final[frozenset[State]] = frozenset({"as_expected", "too_often", "expired"})
"""States in which the case still fails in the entry's way."""

MET: Final[frozenset[State]] = frozenset({"as_expected", "not_run"})
"""States that do not make a run fail; what was not run makes it incomplete."""

MOST_RUNS: Final = 1000
"""Times that one flake may be run; at ten milliseconds a case ten seconds."""


class Flaky(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Evidence of a flake: the case failed ``failed`` times when it was run ``of`` times."""

    failed: Annotated[int, Meta(ge=1, le=MOST_RUNS - 1)]
    of: Annotated[int, Meta(ge=2, le=MOST_RUNS)]

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a case that never passed: that is a failure and no flake."""
        if self.failed >= self.of:
            raise ValueError(f"{self.failed} of {self.of} is no flake: it must have passed at least once")


class Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A failure that somebody answers for.

    ``case`` is the id of a case in the folder ``cases`` beside the file. On ``backend`` it ends in ``outcome`` and
    ``clause`` is to blame. ``issue`` is where it is followed up, ``owner`` who does that, and ``expiry`` the last
    day of the entry. With ``flaky`` it fails now and then.
    """

    case: Annotated[str, Meta(max_length=2000, pattern=r"^[A-Za-z0-9_+]+/[A-Za-z0-9_+]+-[0-9]+/[0-9a-f]{12}$")]
    backend: Annotated[str, Meta(min_length=1)]
    clause: Annotated[str, Meta(min_length=1)]
    outcome: FailingOutcome
    issue: Annotated[str, Meta(pattern=r"^https?://[^\s<>]+$")]
    owner: Annotated[str, Meta(pattern=r"\S")]
    expiry: Annotated[date, Meta(extra_json_schema={"pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"})]
    flaky: Flaky | None = None

    @property
    def kind(self) -> Kind:
        """Return whether the case always fails or now and then."""
        return "known_flake" if self.flaky else "known_failure"


class Expected(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was expected of a case, beside its outcome.

    ``where`` is the line of the entry ``known``. ``failed`` counts the runs of a flake that failed in the entry's way.
    ``says`` tells, in every ``state`` but ``as_expected``, what is wrong and what to do.
    """

    kind: Kind
    known: Known
    where: str
    state: State
    failed: int | None = None
    says: str | None = None

    @property
    def met(self) -> bool:
        """Return whether the run may pass as far as this entry goes."""
        return self.state in MET

    @property
    def terms(self) -> str:
        """Return what kind of entry it is, its owner and its last day."""
        known, kind = self.known, self.kind.replace("_", " ")
        seen = f" ({self.failed} of {known.flaky.of} runs failed)" if known.flaky and self.failed is not None else ""
        return f"{kind}{seen}, owner {known.owner}, expires {known.expiry.isoformat()}"

    @property
    def words(self) -> str:
        """Return the entry in words, its issue last."""
        return f"{self.terms}: {self.known.issue}"
