"""What a run came to, and the status it ends with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.runner.outcomes import OWED, UNJUDGED
from conformance.runner.records.company import Companies
from conformance.runner.records.exercised import Exercised
from conformance.runner.records.power import Power
from conformance.runner.records.record import CaseRecord, Covered, Failure, Record, SequenceFailure, Silence
from conformance.runner.records.repeated import Repeated


@dataclass(frozen=True)
class Result:
    """What a run came to. ``never`` lists clauses of the plan's operations that no case triggered.

    ``silent`` has, for each backend, what none of its own cases triggered, and ``unjudged`` the operations claimed
    or asked for by name of which no case was judged, and ``unshown`` those of which none passed with a value.
    ``coverage`` has, where it was asked for, the interactions of case features that met.
    ``failures`` are new ones; ``known`` still fail as expected, and ``replayed`` are the records of all known cases.
    ``sequences`` are failures of cases that pass alone; ``unrepeated`` counts, for each backend, the cases that failed
    once after others and that no sequence makes fail again.
    ``unexplained`` are the failing cases that none of them stands for.
    ``undrawn`` names the draws, ``suite of operation``, that the time budget cut short. Of the ``resumed`` records of
    an earlier run ``asked_again`` were judged anew, and ``differing`` are new ones of those that came out otherwise.
    ``owed`` are the first records, of each backend, of each outcome that keeps the run from being complete.
    ``power`` says of each backend what its cases can see, ``exercised`` what of its claims, and ``repeated`` what came
    of asking the same cases again. ``timings`` says where the seconds of each backend went (``runner.timings``).
    ``companies`` says what came of asking about cases together.
    ``records`` are those of the log, as the runner wrote them, ``digest`` the SHA-256 of its lines, in hex,
    and ``length`` their bytes. ``unwritten`` are files that could not be written, each with why.
    ``note`` is what a slice says beside its records.
    """

    counts: Mapping[str, Mapping[str, int]]
    failures: tuple[Failure, ...]
    never: tuple[str, ...]
    seconds: float
    coverage: Mapping[str, Covered] = field(default_factory=dict)
    known: tuple[Failure, ...] = ()
    replayed: tuple[CaseRecord, ...] = ()
    unexplained: tuple[CaseRecord, ...] = ()
    silent: Mapping[str, Silence] = field(default_factory=dict)
    sequences: tuple[SequenceFailure, ...] = ()
    unrepeated: Mapping[str, int] = field(default_factory=dict)
    owed: tuple[CaseRecord, ...] = ()
    unjudged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unshown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    undrawn: tuple[str, ...] = ()
    resumed: int = 0
    asked_again: int = 0
    differing: tuple[CaseRecord, ...] = ()
    power: Mapping[str, Power] = field(default_factory=dict)
    exercised: Mapping[str, Exercised] = field(default_factory=dict)
    repeated: Mapping[str, Repeated] = field(default_factory=dict)
    timings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    companies: Mapping[str, Companies] = field(default_factory=dict)
    records: Iterable[Record] = ()
    digest: str = ""
    length: int = 0
    unwritten: Mapping[Path, str] = field(default_factory=dict)
    note: bytes = b""

    @property
    def unmet(self) -> tuple[CaseRecord, ...]:
        """Return the records of known failures that passed, failed in another way, or whose entry expired."""
        return tuple(record for record in self.replayed if record.expected and not record.expected.met)

    @property
    def breaks_must(self) -> bool:
        """Return whether something new breaks a *must*, be it that no smallest case stands for it."""
        new = [failure.requirement for failure in self.failures] + [
            one.requirement for one in self.sequences if one.known is None
        ]
        return "must" in new or any(record.requirement == "must" for record in self.unexplained)

    @property
    def inconclusive(self) -> bool:
        """Return whether all was run, and nothing is shown of an operation claimed or asked for by name."""
        return any(self.unjudged.values()) or any(self.unshown.values())

    @property
    def complete(self) -> bool:
        """Return whether every case was judged, every clause spoke, and what was seen once was seen again."""
        judged = all(not OWED & counts.keys() and counts.keys() - UNJUDGED for counts in self.counts.values())
        whole = judged and self.counts and not self.never and not self.undrawn
        again = all(not one.fewer for one in self.repeated.values())
        company = any(one.only or one.hidden for one in self.companies.values())
        return bool(whole) and again and not any(self.unrepeated.values()) and not self.differing and not company

    @property
    def status(self) -> int:
        """Return the exit status: 0 nothing new fails, 1 a *must* clause or an expectation does, 3 nothing is shown."""
        if self.unmet or self.breaks_must:
            return 1
        return 0 if self.complete and not self.inconclusive else 3
