"""What differs between two runs, case by case. A case that is missing says nothing: it is never a pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Literal, get_args

from conformance.history.differences import Difference, differences
from conformance.history.outline import CaseOutline, Outline
from conformance.runner.outcomes import FAILING, UNJUDGED

Kind = Literal["regressed", "flaky", "never_shown", "newly_unsupported", "removed", "otherwise", "fixed", "new"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""In the order of what a reader has to look at first.

``regressed``: it passed, or broke less, and now breaks a clause (more gravely), or nobody answers for it any more.
``flaky``: the two runs differ in nothing, or a run itself saw both. ``never_shown``: it was judged, and now was to be
and was not. ``newly_unsupported``: it was judged, and now is left out of the claims or refused. ``removed``: it has no
record any more. ``otherwise``: it fails as gravely in another way. ``fixed``: it breaks less, or nothing. ``new``: it
was not judged before.
"""


UNASKED: Final = UNJUDGED - {"flaky"}
"""The outcomes of a case of which a run saw nothing."""


_came_to: Final = attrgetter("outcome", "blame", "requirement", "expected")


@dataclass(frozen=True)
class Change:
    """One case on one backend that the two runs say different things of; ``None`` where one has no record."""

    kind: Kind
    backend: str
    case: str
    before: CaseOutline | None
    after: CaseOutline | None

    @property
    def last(self) -> CaseOutline:
        """Return the later record, or the only one."""
        last = self.after or self.before
        assert last is not None
        return last

    @property
    def op(self) -> str:
        """Return the operation of the case."""
        return self.last.op

    @property
    def clause(self) -> str | None:
        """Return the clause that is, or was, to blame."""
        found = [one.blame for one in (self.after, self.before) if one is not None and one.blame]
        return found[0] if found else None

    @property
    def words(self) -> str:
        """Return what it came to, before and after."""
        return f"{_word(self.before)} → {_word(self.after)}"


def _word(seen: CaseOutline | None) -> str:
    if seen is None:
        return "no record"
    known = f" ({seen.expected.state.replace('_', ' ')})" if seen.expected is not None else ""
    broken = f" {seen.blame}" if seen.blame else ""
    return f"{seen.outcome.replace('_', ' ')}{broken}{known}"


@dataclass(frozen=True)
class Comparison:
    """Two runs and every change between them; ``alike`` counts the cases that came out alike, by backend."""

    before: Outline
    after: Outline
    changes: tuple[Change, ...]
    alike: dict[str, int]
    differing: dict[str, tuple[Difference, ...]]
    """What differs between the runs beside outcomes, as far as each backend is concerned."""

    def of(self, kind: Kind) -> list[Change]:
        """Return the changes of one kind."""
        return [change for change in self.changes if change.kind == kind]

    @property
    def regressions(self) -> list[Change]:
        """Return what makes a comparison fail."""
        return self.of("regressed")

    @property
    def why_incomplete(self) -> str | None:
        """Return why the later run says too little to be compared; ``None`` where it is whole."""
        return self.after.why_incomplete

    @property
    def status(self) -> int:
        """Return the exit status: 1 something regressed, 3 something was not shown, 0 otherwise."""
        if self.regressions:
            return 1
        return 3 if self.of("never_shown") or self.why_incomplete is not None else 0


def compare(before: Outline, after: Outline) -> Comparison:
    """Return how two runs differ; where nothing that decides an answer does, a case that does is flaky."""
    differing = {
        name: differences(before.head, after.head, before.entries.get(name), after.entries.get(name))
        for name in {**before.entries, **after.entries}
    }
    both = before.entries.keys() & after.entries.keys()
    same = bool(both) and all(each.sort == "plan" for name in both for each in differing[name])
    alike: Counter[str] = Counter()
    changes: list[Change] = []
    old, new = before.seen, after.seen
    met = 0
    for key, now in new.items():
        then = old.get(key)
        met += then is not None
        equal = then is not None and _came_to(then) == _came_to(now)
        kind = None if equal else change_of(then, now, same=same)
        if kind is not None:
            changes.append(Change(kind, key[0], key[1], then, now))
        elif now.outcome not in UNASKED:
            alike[key[0]] += 1
    if met < len(old):
        changes += (
            Change("removed", key[0], key[1], then, None)
            for key, then in old.items()
            if key not in new and then.outcome not in UNASKED
        )
    changes.sort(key=lambda one: (KINDS.index(one.kind), one.backend, one.op, one.clause or "", one.case))
    return Comparison(before, after, tuple(changes), alike, differing)


def change_of(then: CaseOutline | None, now: CaseOutline, *, same: bool = False) -> Kind | None:
    """Return in which way a case came out otherwise; ``None`` where it did not, or nobody asked before or now."""
    if then is None or then.outcome in UNASKED:
        return None if now.outcome in UNASKED else "new"
    if now.outcome in UNASKED:
        return "never_shown" if now.owed else "newly_unsupported"
    if "flaky" in (then.outcome, now.outcome):
        return None if then.outcome == now.outcome else "flaky"
    if then.state == now.state and then.severity == now.severity:
        return None
    if _by_chance(then, now, same=same):
        return "flaky"
    return None if now.known else _graver(then, now)


def _graver(then: CaseOutline, now: CaseOutline) -> Kind:
    """Return which of two judged cases that came out otherwise is the graver one."""
    if now.severity > then.severity or (then.known and now.outcome in FAILING):
        return "regressed"
    return "fixed" if now.severity < then.severity else "otherwise"


def _by_chance(then: CaseOutline, now: CaseOutline, *, same: bool) -> bool:
    """Return whether a case came to both in one run, or nothing that differs between the runs can have decided it."""
    if then.expected != now.expected or then.severity == now.severity:
        return False
    return same or any(one.unrepeated is not None for one in (then, now))


def grouped(changes: Iterable[Change]) -> Iterator[tuple[tuple[str, str, str, str | None, str], list[Change]]]:
    """Yield changes together that a reader looks at once: of one kind, backend, operation, clause and outcomes."""
    groups: dict[tuple[str, str, str, str | None, str], list[Change]] = {}
    for one in changes:
        groups.setdefault((one.kind, one.backend, one.op, one.clause, one.words), []).append(one)
    yield from groups.items()
