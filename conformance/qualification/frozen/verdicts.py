"""What a judge, changed or not, says of frozen observations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

import msgspec

from conformance.qualification.auto.source.changes import Change
from conformance.qualification.auto.source.judge_family import JUDGE
from conformance.qualification.auto.source.shadow import imported_announcing, imported_with
from conformance.qualification.frozen.observation import Again, FrozenObservation


class FrozenVerdict(msgspec.Struct, frozen=True):
    """A verdict: the outcome, what each clause says, who is to blame, what was told beside, and the words."""

    outcome: str
    clauses: dict[str, str]
    blame: str = ""
    told: tuple[str, ...] = ()
    detail: str = ""

    @property
    def broken(self) -> frozenset[str]:
        """Return the clauses that are broken."""
        return frozenset(name for name, held in self.clauses.items() if held == "broken")

    @property
    def plain(self) -> tuple[object, ...]:
        """Return all of it but the words of the detail."""
        return self.outcome, self.clauses, self.blame, self.told


class Judge:
    """The judge as a table of modules has it; what it finds out about a case it keeps, as in a run."""

    def __init__(self, dialects: Any, schedules: Any) -> None:
        """Take the dialects, and the clauses about schedules."""
        self._dialects, self._schedules = dialects, schedules
        self._subjects: dict[str, tuple[Any, Any]] = {}

    def say(self, frozen: FrozenObservation, *, anew: bool = False) -> FrozenVerdict:
        """Return what it says of an observation; ``anew`` nothing that was found out about its case before is known."""
        if frozen.schedules:
            return self._of_schedules(frozen)
        dialect, subject = self._subject(frozen, anew=anew)
        assert frozen.ready is not None
        talk, again = dialect.dialogue(subject, frozen.ready.terms), Again(frozen)
        try:
            ask = next(talk)
            while True:
                ask = talk.send(again.ask(ask.request))
        except StopIteration as ended:
            verdict = ended.value
        blame = "" if verdict.blame is None else verdict.blame.id
        told = (*map(str, verdict.classes), *verdict.shown, str(verdict.refusal), *map(str, verdict.steps))
        return FrozenVerdict(verdict.outcome, dict(verdict.clauses), blame, told, verdict.detail or "")

    def _subject(self, frozen: FrozenObservation, *, anew: bool) -> tuple[Any, Any]:
        if anew or frozen.name not in self._subjects:
            case = frozen.case
            dialect = self._dialects.dialect_of(case)
            self._subjects[frozen.name] = dialect, dialect.mean(case)
        return self._subjects[frozen.name]

    def _of_schedules(self, frozen: FrozenObservation) -> FrozenVerdict:
        first, *rest = frozen.schedules
        found = (
            self._schedules.judge_two(first, rest[0], frozen.relation, *rest[1:])
            if rest
            else self._schedules.judge(first)
        )
        clauses = {each.clause: each.finding for each in found if each.finding != "silent"}
        broken = sorted(name for name, said in clauses.items() if said == "broken")
        # Which clauses are silent would take most of the room; what is not listed is not counted as silent.
        told = (f"{len(found) - len(clauses)} are silent",)
        return FrozenVerdict("failed" if broken else "passed", clauses, " ".join(broken), told)


NEEDED: Final = ("conformance.runner.dialects", "conformance.specs.schedules")


@contextmanager
def changed_judge(change: Change | None) -> Iterator[tuple[Judge, Callable[[], bool]]]:
    """Have the judge imported anew with a change, and what tells whether the change was come to.

    Meanwhile its modules are those that are found, also by what imports late. Raise whatever the changed code raises
    when it is imported.
    """
    with imported_with(JUDGE, change, lambda: tuple(map(import_module, NEEDED))) as ((dialects, schedules), came):
        dialects.dialects()
        yield Judge(dialects, schedules), lambda: bool(came)


@contextmanager
def announcing_judge(changes: Sequence[Change]) -> Iterator[tuple[Judge, set[str]]]:
    """Have the judge as it is imported anew, with the set that gets the digest of each change that it comes to."""
    made = imported_announcing(JUDGE, changes, lambda: tuple(map(import_module, NEEDED)))
    with made as ((dialects, schedules), came):
        dialects.dialects()
        yield Judge(dialects, schedules), came
