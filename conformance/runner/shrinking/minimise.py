"""Pass 2: every way in which a backend fails, each by its smallest case.

Starting from the failing case that breaks the fewest clauses, Hypothesis shrinks, and neutral moves and the listed
reductions finish (``runner.shrinking``). What still fails must do so with the same outcome, error and deviation, and
break no clause that the start did not: so the number of clauses goes down before the size does, and the most particular
clause left is the one to blame. The smallest case is run alone in a fresh process before it is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isfinite
from typing import Any, Final

from conformance.judging.clause import AnyClause
from conformance.judging.verdict import Verdict
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.failing_cases import Kind, kind_of, price
from conformance.runner.backend.failure_equivalence import blamed, breaks_must, cost, explains, way
from conformance.runner.backend.failures import Failures
from conformance.runner.budget import Deadline
from conformance.runner.dialect import Trial
from conformance.runner.dialects import name_of, operations, trial
from conformance.runner.records.record import Failure
from conformance.runner.shrinking.headline import headline
from conformance.runner.shrinking.kept_dtypes import of_another_dtype
from conformance.runner.shrinking.shrinking import Shrinking, SmallestCase

Known = Callable[[str, Verdict, list[str]], bool]
"""Tells whether a smallest case, by id and verdict, is that of a known failure, and takes the cases it stands for."""

WAYS: Final = 64
"""Smallest cases looked for in one operation of a backend; what is left has none. Torch's all_reduce needed 26."""


def failures(
    backend: BackendRun,
    op: str,
    save: Callable[[str, Any], str],
    late: Callable[[], bool] = lambda: False,
    known: Known = lambda case, judged, names: False,
) -> Iterator[Failure]:
    """Yield one failure for each way in which a backend fails ``op``; ``save`` stores its case.

    What is ``known`` is left out. Cases that break a *must* come first: one that breaks a *should* alone never stands
    for them.
    Two small cases show the same way when the same clause is to blame, with the same outcome, error and deviation:
    the smaller stands for both. When it is ``late``, of what is left one case of each way is stored as it was drawn.
    No way takes more than twice its part of the time before, so that one large case is not all that is made smaller;
    what was cut short so is gone on with when the others have had their turn.
    """
    clauses = operations()[op].clauses(op, backend.terms)
    failing = backend.failures
    found = _Ways(failing, op, clauses)
    left = _ordered(failing, op, clauses)
    for _ in range(WAYS):
        if not left or late():
            break
        start = left[0]
        one = _confirmed(backend, start, late, _turn(late, failing, left))
        if one is None or one.smallest.judged.blame is None:
            # Alone it passes: what it came to among others was told by then. Or the backend does not start any more.
            left.remove(start)
            continue
        judged, small = one.smallest.judged, name_of(one.smallest.case)
        others = [name for name in left if name != start and explains(judged, failing.verdict_of(name), clauses)]
        alike = [start, *(name for name in others if not of_another_dtype(small, name, judged, clauses))]
        left = [name for name in left if name not in alike]
        if not known(small, judged, alike):
            found.add(one, alike)
    if isinstance(late, Deadline) and isfinite(late.end):
        for each in found.ways.values():
            _go_on(backend, each, late)
    if late():
        for name in left:
            found.add_drawn(name)
    for each in found.ways.values():
        yield _failure(backend, op, each, save)


def ways_of(backend: BackendRun, op: str) -> int:
    """Return in how many ways a backend fails an operation."""
    return len({way(backend.failures.verdict_of(name)) for name in backend.failures.left(op)})


def _turn(late: Callable[[], bool], failures: Failures, left: Sequence[str]) -> Callable[[], bool]:
    """Return what tells when the first of what is left had twice its part of the time."""
    if not isinstance(late, Deadline):
        return late
    return late.share(min(1.0, 2 / (1 + len({way(failures.verdict_of(name)) for name in left}))))


def _go_on(backend: BackendRun, found: _Way, late: Callable[[], bool]) -> None:
    """Make those of the smallest cases of a way smaller whose search was cut short, if there is time now."""
    for name, one in list(found.smallest.items()):
        if one.smallest.minimal or late():
            continue
        search = _search(backend, _trial(one.smallest.case), one.smallest.judged, late, careful=False)
        smaller = search.smallest(one.smallest.case, None, backend.origins.seed)
        alone = backend.queries.alone(_trial(smaller.case), late)
        if alone is not None and _same(alone, one.smallest.judged):
            del found.smallest[name]
            found.smallest[name_of(smaller.case)] = _Confirmed(
                SmallestCase(smaller.case, alone, smaller.minimal), alone=True
            )


def _ordered(failures: Failures, op: str, clauses: Sequence[AnyClause]) -> list[str]:
    """Return the failing cases of an operation, those that break a *must* first, then the cheaper first."""

    def worse(name: str) -> tuple[bool, tuple[int, ...]]:
        return not breaks_must(failures.verdict_of(name)), price(failures.found.kept[name], clauses)

    return sorted(failures.left(op), key=worse)


@dataclass(frozen=True)
class _Confirmed:
    """A smallest case, and whether it failed alike alone in a fresh process; ``None`` where it could not be run."""

    smallest: SmallestCase
    alone: bool | None


@dataclass(frozen=True)
class _Way:
    """The smallest cases of one way to fail, by id, and the cases they explain."""

    smallest: dict[str, _Confirmed] = field(default_factory=dict)
    explains: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Ways:
    """The ways to fail an operation that were found, by blame and deviation; of each kind the others are told once."""

    failures: Failures
    op: str
    clauses: Sequence[AnyClause]
    ways: dict[tuple[object, ...], _Way] = field(default_factory=dict)
    told: set[Kind] = field(default_factory=set)

    def add(self, one: _Confirmed, alike: list[str]) -> None:
        """Take a smallest case, and the cases that it explains."""
        way_of = self.ways.setdefault(self._place(one.smallest), _Way())
        way_of.smallest[name_of(one.smallest.case)] = one
        way_of.explains.extend(alike)
        for kind in {kind_of(self.op, self.failures.verdict_of(name)) for name in alike} - self.told:
            way_of.explains.extend(self.failures.found.others_like(kind))
            self.told.add(kind)

    def add_drawn(self, name: str) -> None:
        """Take a case that there was no time to make smaller or to run alone: for a way that has no case, or as its."""
        drawn = SmallestCase(None, self.failures.verdict_of(name), minimal=False)
        known = self.ways.get(self._place(drawn))
        if known is not None:
            known.explains.append(name)
        elif len(self.ways) < WAYS:
            self.add(_Confirmed(replace(drawn, case=self.failures.trial(name).case), None), [name])

    def _place(self, found: SmallestCase) -> tuple[object, ...]:
        """Return the clause to blame and the way to fail."""
        return (_headline(self.failures, self.op, self.clauses, found).id, *way(found.judged))


def _headline(failures: Failures, op: str, clauses: Sequence[AnyClause], found: SmallestCase) -> AnyClause:
    """Return the clause that a smallest case is told by, as far as the run shows which one it is about."""
    blame = blamed(found.judged, clauses, minimal=found.minimal)
    of_op = (each.verdict for each in failures.found.kept.values() if each.record.op == op)
    return headline(blame, found.judged, clauses, of_op, failures.records.tally.spoken.get(op, {}))


def _failure(backend: BackendRun, op: str, found: _Way, save: Callable[[str, Any], str]) -> Failure:
    dialect = operations()[op]
    clauses = dialect.clauses(op, backend.terms)

    def worse(name: str) -> tuple[int, ...]:
        one = found.smallest[name].smallest
        return cost(one.judged, one.case, clauses, dialect)

    name, *others = sorted(found.smallest, key=worse)
    for other in others:
        save(other, found.smallest[other].smallest.case)
    first = found.smallest[name]
    judged = first.smallest.judged
    blame = _headline(backend.failures, op, clauses, first.smallest)
    more = {each for each in found.explains if each in backend.failures.confirmed} - {name}
    return Failure(
        backend=backend.name,
        op=op,
        clause=blame.id,
        requirement=blame.requirement,
        outcome=judged.outcome,
        case=name,
        file=save(name, first.smallest.case),
        detail=judged.detail or "",
        minimal=first.smallest.minimal,
        explains=tuple(found.explains),
        alike=tuple(others),
        error=judged.error,
        alone=None if first.alone is None else first.alone + len(more),
    )


def _confirmed(
    backend: BackendRun, start: str, late: Callable[[], bool], soon: Callable[[], bool]
) -> _Confirmed | None:
    """Return the smallest case that fails as ``start`` does alone in a fresh process; ``None`` when not even that does.

    The search ends ``soon``; whether its case fails alone is asked as long as it is not ``late``.

    A process that what was asked before has spoilt shrinks to nothing in particular. So where the smallest case passes
    alone, the search is made again, and no process that gave a failing answer is asked anything more.
    """
    for careful in (False, True) if not backend.failures.dependent else (True,):
        smallest = _smallest(backend, start, soon, careful=careful)
        alone = backend.queries.alone(_trial(smallest.case), late)
        if alone is None:
            return _Confirmed(_begun(backend, smallest, soon) or smallest, None)
        if _same(alone, smallest.judged):
            found = SmallestCase(smallest.case, alone, smallest.minimal)
            return _Confirmed(_begun(backend, found, soon) or found, alone=True)
    one, judged = backend.failures.trial(start), backend.failures.verdict_of(start)
    case, alone = one.case, backend.queries.alone(one, late)
    if alone is None:
        return _Confirmed(SmallestCase(case, judged, minimal=False), None)
    if alone.blame is None or way(alone) != way(judged):
        backend.failures.settle_alone(start, alone)
        return None
    return _Confirmed(SmallestCase(case, alone, minimal=False), alone=True)


def _same(one: Verdict, other: Verdict) -> bool:
    return one.blame is not None and other.blame is not None and way(one) == way(other) and one.blame == other.blame


def _smallest(backend: BackendRun, start: str, late: Callable[[], bool], *, careful: bool) -> SmallestCase:
    one = backend.failures.trial(start)
    if careful:
        backend.queries.forget()
    search = _search(backend, one, backend.failures.verdict_of(start), late, careful=careful)
    return search.smallest(one.case, backend.failures.drawn(start), backend.origins.seed)


def _search(backend: BackendRun, one: Trial, first: Verdict, late: Callable[[], bool], *, careful: bool) -> Shrinking:
    clauses = one.dialect.clauses(one.facts.op, backend.terms)
    return Shrinking(one.dialect, first, clauses, lambda case: backend.queries.ask(case, careful=careful), late)


def _begun(backend: BackendRun, found: SmallestCase, late: Callable[[], bool]) -> SmallestCase | None:
    """Return the smallest case that the shortest beginning of one comes to which fails in the same way by itself.

    What nobody asked for is blamed on what was made of it, and what is raised on any step of a program. Where a
    *should* is blamed for what was raised, since no *must* demands all of the answer, each step is asked for alone too.
    ``None`` where the case itself is blamed as its beginning is, or none of them fails so.
    """
    whole = _trial(found.case)
    excused = found.judged.outcome == "errored" and not breaks_must(found.judged)
    beginnings = chain(whole.dialect.heads(found.case), whole.dialect.parts(found.case) if excused else ())
    for case in beginnings if whole.facts.legal else ():
        try:
            one = _trial(case)
        except ValueError:
            continue  # a beginning that is malformed
        if backend.scope.outside(one):
            continue
        judged = _by_itself(backend, one, late)
        if judged is None or judged.blame is None or not _as(judged, found.judged):
            continue
        if judged.blame == found.judged.blame or breaks_must(judged) < breaks_must(found.judged):
            return None
        smallest = _search(backend, one, judged, late, careful=True).smallest(case, None, backend.origins.seed)
        alone = _by_itself(backend, _trial(smallest.case), late)
        same = alone is not None and _same(alone, smallest.judged)
        return smallest if same else SmallestCase(case, judged, minimal=False)
    return None


def _as(judged: Verdict, whole: Verdict) -> bool:
    """Return whether a part fails as the whole does; of a *should* the words of an error are not told."""
    words = "" if not breaks_must(whole) else way(judged).says
    return way(judged)._replace(says=words) == way(whole)


def _by_itself(backend: BackendRun, one: Trial, late: Callable[[], bool]) -> Verdict | None:
    """Return the verdict on a case alone in a fresh process; where none can be had, after no other that fails."""
    found = backend.queries.alone(one, late)
    return found if found is not None or late() else backend.queries.ask(one.case, careful=True)


def _trial(case: Any) -> Trial:
    found = trial(case)
    assert found is not None  # it was asked as one
    return found
