"""The outline of a run: of its log what comparing needs.

Of a record only what says what its case came to is there. A field that an older log did not have is absent.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.runner.outcomes import FAILING, OWED
from conformance.runner.records.company import Company
from conformance.runner.records.record import FORMAT

SEVERITY: Final = {"may": 1, "should": 2, "must": 3}
"""How grave it is that a clause of this requirement is broken; 0 is a pass."""


class Expectation(msgspec.Struct, frozen=True, gc=False):
    """What somebody said of a case that fails: ``state`` tells whether it did so."""

    state: str = ""
    says: str | None = None


class CaseOutline(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="case"):
    """What one case came to on one backend. ``clauses`` is as it was written."""

    backend: str
    case: str
    outcome: str
    op: str = ""
    suite: str = "collectives"
    dtype: str = ""
    world: int = 0
    clauses: msgspec.Raw = msgspec.Raw(b"{}")
    seconds: float = 0.0
    blame: str | None = None
    requirement: str | None = None
    detail: str | None = None
    error: str | None = None
    unrepeated: str | None = None
    came_to: dict[str, int] = {}
    expected: Expectation | None = None
    origin: str | None = None
    observation: str | None = None
    company: Company | None = None

    @property
    def severity(self) -> int:
        """Return 0 for a pass, else how grave it is: 1 to 3 by requirement, 3 where the clause is not known."""
        return SEVERITY.get(self.requirement or "must", 3) if self.outcome in FAILING else 0

    @property
    def known(self) -> bool:
        """Return whether it fails as somebody said."""
        return self.expected is not None and self.expected.state == "as_expected"

    @property
    def owed(self) -> bool:
        """Return whether the case was to be judged and nothing is known of it."""
        return self.outcome in OWED

    @property
    def state(self) -> tuple[str, str | None, str | None]:
        """Return what two runs must have alike for the case to have come out alike."""
        return self.outcome, self.blame, self.expected.state if self.expected else None


class BackendOutline(msgspec.Struct, frozen=True):
    """A judged backend as the header has it."""

    name: str
    description: dict[str, str] = {}
    claims: dict[str, dict[str, list[str]]] = {}
    guarantees: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    number_model: dict[str, Any] = {}


class HeaderOutline(msgspec.Struct, frozen=True, tag_field="type", tag="header"):
    """How a log begins."""

    spec_digest: str
    reference_digest: str
    started: str
    backends: tuple[BackendOutline, ...]
    format: int = FORMAT
    suites: tuple[str, ...] = ()
    seed: int = 0
    profile: str = "default"
    examples: int = 0
    ops: tuple[str, ...] = ()
    environment: dict[str, str] = {}


class FailureOutline(msgspec.Struct, frozen=True, tag_field="type", tag="failure"):
    """One way to fail, by its smallest case."""

    backend: str
    op: str
    clause: str
    outcome: str
    case: str
    file: str = ""
    requirement: str = "must"
    detail: str = ""
    minimal: bool = False
    explains: tuple[str, ...] = ()
    known: Expectation | None = None


class SequenceOutline(msgspec.Struct, frozen=True, tag_field="type", tag="sequence"):
    """Cases that must follow each other for the last one to fail."""

    backend: str
    op: str
    clause: str
    outcome: str
    cases: tuple[str, ...]
    files: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()


class FooterOutline(msgspec.Struct, frozen=True, tag_field="type", tag="footer"):
    """How a log ends."""

    finished: str
    seconds: float = 0.0
    counts: dict[str, dict[str, int]] = {}
    seconds_by_backend: dict[str, float] = {}
    undrawn: tuple[str, ...] = ()
    unrepeated: dict[str, int] = {}


class DrawnOutline(msgspec.Struct, frozen=True, tag_field="type", tag="drawn"):
    """What had been drawn; comparing asks nothing of it."""


Key = tuple[str, str]
"""A backend and a case."""


@dataclass(frozen=True)
class Outline:
    """A run: ``seen`` has what each case came to, the later of two records of one; ``digest`` is that of its log."""

    path: Path
    head: HeaderOutline
    seen: dict[Key, CaseOutline]
    ways: tuple[FailureOutline, ...]
    foot: FooterOutline | None
    digest: str
    sequences: tuple[SequenceOutline, ...] = ()
    entries: dict[str, BackendOutline] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return the name of the run: the time it began, and the beginning of a digest of its header."""
        text = msgspec.json.encode(self.head, order="deterministic")
        return f"{self.head.started}-{hashlib.sha256(text).hexdigest()[:12]}"

    @property
    def name(self) -> str:
        """Return the name of the run's folder."""
        return self.path.resolve().parent.name

    @cached_property
    def counts(self) -> Counter[tuple[str, str]]:
        """Return how many cases of each backend came to each outcome."""
        return Counter(map(attrgetter("backend", "outcome"), self.seen.values()))

    @cached_property
    def why_incomplete(self) -> str | None:
        """Return why the run says too little; ``None`` for a whole one."""
        if self.foot is None:
            return "the log has no footer: the run never ended"
        for backend, counts in self.foot.counts.items():
            for outcome, count in counts.items():
                if self.counts[backend, outcome] < count:
                    return f"records are missing: the footer counts {count} {outcome} of {backend}"
        if self.foot.undrawn:
            return f"the time budget was spent before all cases were drawn, those of {self.foot.undrawn[0]} among them"
        return None
