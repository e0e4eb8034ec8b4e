"""What an earlier, unfinished run said of cases, and how some of them come out when they are asked again."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.judging.clause import Outcome
from conformance.judging.verdict import Verdict
from conformance.runner.ids import Ids
from conformance.runner.records.record import CaseRecord


@dataclass
class EarlierRun:
    """The cases that have a record: those of an earlier run, and known failures that were replayed.

    ``again`` has the verdicts on those that are to be asked again, ``compared`` how many were, and ``differing`` the
    records of those that came out otherwise. The ``unsupported`` ones lie outside the claims, or were refused before
    the backend had answered a case of the operation; those of them that were run all the same and ended the process
    are ``lost``, with what they came to.
    """

    again: dict[str, Verdict] = field(default_factory=dict)
    compared: int = 0
    differing: list[CaseRecord] = field(default_factory=list)
    unsupported: Ids = field(default_factory=Ids)
    lost: dict[str, Outcome] = field(default_factory=dict)
    _recorded: Ids = field(default_factory=Ids)

    def add(self, name: str) -> None:
        """Take note of a case that has a record."""
        self._recorded.add(name)

    def has(self, name: str) -> bool:
        """Return whether a case has a record."""
        return bool(len(self._recorded)) and name in self._recorded

    def differs(self, name: str, judged: Verdict) -> str | None:
        """Return what the earlier run said of a case that was asked again, where that is something else."""
        self.compared += 1
        earlier = self.again[name]
        same = (judged.outcome, judged.clauses) == (earlier.outcome, earlier.clauses)
        return None if same else f"the record of the earlier run said {earlier.outcome}"
