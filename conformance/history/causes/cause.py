"""A cause, and the experiments that it rests on."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final, Literal

import msgspec

Sort = Literal[
    "specification", "reference", "suite", "terms", "claims", "expectation", "plan", "company", "ended", "case_limit",
    "adapter", "backend", "package", "environment", "flaky", "unexplained",
]  # fmt: skip
"""``suite``: specification or reference, which both changed. ``terms``: what a backend declares that its answers are
judged by. ``plan``: which cases were asked for. ``company``: one verdict is on the result in company, the other on the
case alone. ``ended``: a run was cut short. ``adapter``: lines of ours; ``backend``: those of anybody else."""

TITLES: Final[dict[Sort, str]] = {
    "specification": "the specification or the judge changed",
    "reference": "the reference changed",
    "suite": "the specification and the reference changed",
    "terms": "the backend declares something else",
    "claims": "the backend claims something else",
    "expectation": "what is expected changed",
    "plan": "other cases were asked for",
    "company": "asked about together with other cases",
    "ended": "the run was cut short",
    "case_limit": "the time that a case may take changed",
    "adapter": "the adapter changed",
    "backend": "the backend changed",
    "package": "another version of a package",
    "environment": "another environment",
    "flaky": "flaky",
    "unexplained": "unexplained",
}

LASTS: Final = timedelta(days=14)
"""How long a flake is taken for one: pytorch/test-infra lets its own expire as soon."""


class Cause(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a case came out otherwise: a sort, a sentence, and ``evidence``, a line for each experiment.

    ``failed`` of ``of`` replays within one environment and revision failed, where it is flaky, which holds until
    ``expires``. ``then`` is a command that would tell more.
    """

    sort: Sort
    says: str
    evidence: tuple[str, ...] = ()
    failed: int | None = None
    of: int | None = None
    expires: date | None = None
    then: str | None = None

    @property
    def title(self) -> str:
        """Return the sort for people."""
        return TITLES[self.sort]


def flaky(failed: int, of: int, evidence: str, today: date) -> Cause:
    """Return that a case fails now and then where nothing changes."""
    return Cause(
        sort="flaky",
        says=f"it fails in {failed} of {of} runs within one environment and revision",
        evidence=(evidence,),
        failed=failed,
        of=of,
        expires=today + LASTS,
    )


def unexplained(says: str, *evidence: str, then: str | None = None) -> Cause:
    """Return that no experiment settles it, with what was tried."""
    return Cause(sort="unexplained", says=says, evidence=evidence, then=then)
