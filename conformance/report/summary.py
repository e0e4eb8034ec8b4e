"""The report as a value: everything the writers show, nothing they would have to work out."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from conformance.judging.clause import Outcome, Requirement
from conformance.report.counts.numbers import ReachedClasses
from conformance.report.counts.placements import PlacementCounts
from conformance.report.counts.tally import State, Tally
from conformance.report.counts.topics import Topic, TopicCounts
from conformance.report.failures.example import Example
from conformance.report.failures.findings import Finding
from conformance.report.inputs.explanations import Explanation
from conformance.report.inputs.qualification import Mutant, Uncovered
from conformance.report.inputs.specification import ClauseText
from conformance.runner.records.company import Companies
from conformance.runner.records.known import Expected
from conformance.runner.records.power import Power
from conformance.runner.records.record import Covered

MARK: Final = "mesh-conformance report"
"""Stands near the beginning of every file a report writes, so that it overwrites only its own."""

Verdict = Literal["conformant", "partial", "not_conformant", "incomplete", "inconclusive"]
"""``partial``: nothing fails in the operations that were asked for, which are not all."""


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One run: what was asked, where, and whether all of it is here. Times are ISO 8601 or seconds.

    ``coverage`` has, where it was counted, the interactions of case features that met.
    """

    name: str
    why_incomplete: str | None
    suites: tuple[str, ...]
    ops: tuple[str, ...]
    profile: str
    seed: int
    examples: int
    spec_digest: str
    reference_digest: str
    started: str
    finished: str | None
    seconds: float | None
    records: int
    backends: tuple[str, ...]
    environment: dict[str, str]
    coverage: dict[str, Covered] = {}


class ExercisedClaims(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the ``promised`` things that claims name were ``exercised``, and the others, by operation."""

    promised: int
    exercised: int
    missing: dict[str, tuple[str, ...]]


class ClauseCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of clauses of one requirement, each counted once whatever operations it was exercised in.

    ``known`` are those of the ``broken`` ones that only known failures are to blame for.
    """

    held: int = 0
    broken: int = 0
    shadowed: int = 0
    unsupported: int = 0
    not_run: int = 0
    known: int = 0

    @property
    def unseen(self) -> int:
        """Return those within the claims that no case shows to hold or to be broken."""
        return self.shadowed + self.not_run

    @property
    def total(self) -> int:
        """Return all clauses in the scope of the run."""
        return self.held + self.broken + self.shadowed + self.unsupported + self.not_run


class FlakyCase(msgspec.Struct, frozen=True, kw_only=True):
    """A case that came to different outcomes where nothing differed: how often to which, of how many ``times``."""

    case: str
    op: str
    came_to: dict[Outcome, int]
    times: int
    detail: str


class BackendSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One judged backend. ``label`` is unique in the report, ``name`` is what ``-b`` takes.

    ``cases`` and ``outcomes`` count distinct cases; ``seconds`` is time spent in the backend; ``unstable``
    counts cases that had different outcomes in different runs (the worst one is shown). ``known`` counts those of the
    ``failing`` cases that known failures cover; ``known_only`` says that no other breaks a *must* clause.
    ``power`` says what the cases of its one run can see; nothing where it has several. ``exercised`` says what of its
    claims judged cases showed.
    ``undecided`` says that some operation or clause was to be shown and was not.
    ``unrepeated`` counts the cases that failed after others and passed alone, whatever made them fail; ``flaky`` are
    those that came to different outcomes and that nothing makes come to one again: neither passed nor failed.
    ``findings`` counts those that are its, be it with other backends, and ``known_findings`` apart. ``companies`` says
    what came of asking about cases together, where that was done.
    ``guarantees`` says of each guarantee whether it is given and what was seen, ``number_model`` of each kind of choice
    about numbers which words are declared and in how many cases they showed.
    """

    label: str
    name: str
    runs: tuple[str, ...]
    verdict: Verdict
    title: str
    why: tuple[str, ...]
    complete: bool
    must: ClauseCounts
    should: ClauseCounts
    may: ClauseCounts
    cases: int
    failing: int
    outcomes: dict[str, int]
    seconds: float
    cases_per_second: float | None
    unstable: int
    under_claimed: dict[str, int]
    description: dict[str, str]
    claims: dict[str, dict[str, list[str]]]
    known: int = 0
    known_only: bool = False
    unrepeated: int = 0
    flaky: tuple[FlakyCase, ...] = ()
    undecided: bool = False
    power: Power | None = None
    exercised: ExercisedClaims | None = None
    guarantees: dict[str, str] = {}
    number_model: dict[str, str] = {}
    findings: int = 0
    known_findings: int = 0
    companies: Companies | None = None


class Cell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A backend (by label) against an operation, or against one clause of it."""

    backend: str
    op: str
    clause: str | None
    state: State
    tally: Tally
    by_dtype: dict[str, Tally] = {}


class Bucket(msgspec.Struct, frozen=True, kw_only=True):
    """Failures with one operation, blamed clause, outcome, error and deviation, shown by their smallest case.

    ``file`` is that case's file, relative to the report; ``minimal`` says that no listed reduction of it still fails.
    A ``known`` bucket is of one entry and its stored case. ``finding`` is the place in the report's findings of the one
    that it belongs to; none where its cases were never minimised.
    """

    backend: str
    name: str
    op: str
    clause: str | None
    outcome: Outcome
    requirement: Requirement
    cases: int
    dtypes: tuple[str, ...]
    worlds: tuple[int, ...]
    case: str
    minimal: bool
    detail: str
    file: str | None
    example: Example
    error: str | None = None
    known: Expected | None = None
    finding: int | None = None


class KnownFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A known failure that was replayed on a backend (by label): how its case ended, and what was expected."""

    backend: str
    op: str
    case: str
    outcome: Outcome
    detail: str | None
    expected: Expected


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known about the judged backends.

    ``basis`` says of which files the verdicts are made; none where the process that judged made them of its memory.
    """

    generator: str = MARK
    format: int = 1
    runs: tuple[RunSummary, ...]
    backends: tuple[BackendSummary, ...]
    clauses: tuple[ClauseText, ...]
    cells: tuple[Cell, ...]
    buckets: tuple[Bucket, ...]
    findings: tuple[Finding, ...] = ()
    classes: tuple[ReachedClasses, ...] = ()
    placements: tuple[PlacementCounts, ...] = ()
    topics: tuple[Topic, ...] = ()
    treated: tuple[TopicCounts, ...] = ()
    known: tuple[KnownFailure, ...] = ()
    never_exercised: tuple[str, ...]
    mutants: tuple[Mutant, ...] = ()
    uncovered: tuple[Uncovered, ...] = ()
    unkilled_clauses: tuple[str, ...] = ()
    stale_explanations: tuple[Explanation, ...] = ()
    warnings: tuple[str, ...] = ()
    basis: str = ""
