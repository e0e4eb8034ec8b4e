"""Pass 2: every way in which a backend fails, each by its smallest case.

Starting from the failing case that breaks the fewest clauses, Hypothesis shrinks and the listed reductions
finish. What still fails must break no clause that the start did not: so the number of clauses goes down
before the size does, and the most particular clause left is the one to blame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from conformance.cases.case import Case, case_id
from conformance.cases.program import Step
from conformance.judging.clause import Clause
from conformance.judging.speaking import specificity
from conformance.judging.verdict import Verdict
from conformance.runner.draws import SHRINK_CALLS, SHRINK_CALLS_SLOW, shrink
from conformance.runner.lane import Lane
from conformance.runner.log import Failure
from conformance.runner.meaning import all_binding
from conformance.runner.outcomes import ENDING
from conformance.runner.plan import Plan
from conformance.runner.reductions import reductions

WAYS: Final = 64
"""Smallest cases looked for in one operation of a backend; what is left has none. Torch's all_reduce needed 26."""

REDUCTION_CALLS: Final = 1_000
"""New cases that the listed reductions may ask for. From what Hypothesis leaves, about 30 were needed; long blocks on 8
ranks, where it gets little done in its own calls, took up to 583 (JAX, seed 0)."""

REDUCTION_CALLS_SLOW: Final = 30
"""The same where every answer takes as long as a case may."""


def failures(lane: Lane, op: str, plan: Plan, save: Callable[[str, Case], str]) -> Iterator[Failure]:
    """Yield one failure for each way in which the lane's backend fails ``op``; ``save`` stores its case.

    Cases that break a *must* come first: one that breaks a *should* alone never stands for them.
    Two small cases show the same way when the same clause is to blame, with the same outcome and, where
    the implementation raised, the same kind of error: the smaller stands for both.
    """
    found: dict[tuple[str, ...], _Way] = {}
    left = sorted(
        lane.failing(op),
        key=lambda name: (not _breaks_must(lane.verdicts[name]), _cost(lane.verdicts[name], lane.subjects[name].case)),
    )
    for _ in range(WAYS):
        if not left:
            break
        start = left[0]
        case, minimal = smallest(lane, op, start, plan)
        judged = lane.ask(case)
        alike = [other for other in left if other == start or explains(judged, lane.verdicts[other])]
        left = [other for other in left if other not in alike]
        way = found.setdefault((_to_blame(lane, op, judged).id, judged.outcome, _kind_of_error(judged)), _Way())
        way.smallest[case_id(case)] = case, minimal
        way.explains.extend(alike)
    for way in found.values():
        name, *others = sorted(way.smallest, key=lambda one: _cost(lane.verdicts[one], way.smallest[one][0]))
        (case, minimal), judged = way.smallest[name], lane.verdicts[name]
        for other in others:
            save(other, way.smallest[other][0])
        clause = _to_blame(lane, op, judged)
        yield Failure(
            backend=lane.name,
            op=op,
            clause=clause.id,
            requirement=clause.requirement,
            outcome=judged.outcome,
            case=name,
            file=save(name, case),
            detail=judged.detail or "",
            minimal=minimal,
            explains=tuple(way.explains),
            alike=tuple(others),
            error=judged.error,
        )


@dataclass(frozen=True)
class _Way:
    """The smallest cases of one way to fail, by id, and whether each is minimal; and the cases they explain."""

    smallest: dict[str, tuple[Case, bool]] = field(default_factory=dict)
    explains: list[str] = field(default_factory=list)


def _kind_of_error(judged: Verdict) -> str:
    match = re.match(r"rank \d+ raised (\w+)", judged.detail or "")
    return match.group(1) if match else ""


def smallest(lane: Lane, op: str, start: str, plan: Plan) -> tuple[Case, bool]:
    """Return the smallest case found that fails as ``start`` does, and whether no listed reduction is left."""
    first = lane.verdicts[start]
    # Ranks that cannot go on wait for their timeout, and are then started anew.
    slow = first.outcome in ENDING or lane.subjects[start].case.troubled
    calls = SHRINK_CALLS_SLOW if slow else SHRINK_CALLS
    fails = _fails_like(lane, first)
    draws = plan.of(lane.suites[start], op)
    shrunk = shrink(draws.domain, draws.examples, plan.seed, start, fails, calls, case_id)
    calls = REDUCTION_CALLS_SLOW if first.outcome == "timeout" else REDUCTION_CALLS
    return _reduced(lane, shrunk or lane.subjects[start].case, fails, calls)


def _reduced(lane: Lane, case: Case, fails: Callable[[Case], bool], calls: int) -> tuple[Case, bool]:
    """Apply listed reductions until none fails, or until ``calls`` new cases have been asked."""
    asked = 0
    while True:
        unheard = False
        for smaller in reductions(case):
            if _cost(lane.ask(case), smaller) >= _cost(lane.ask(case), case):
                continue
            asked += case_id(smaller) not in lane.verdicts
            if asked > calls:
                return case, False
            if fails(smaller):
                case = smaller
                break
            judged = lane.verdicts.get(case_id(smaller))
            unheard |= judged is not None and judged.outcome == "not_run"
        else:
            return case, not unheard


def _fails_like(lane: Lane, first: Verdict) -> Callable[[Case], bool]:
    allowed, must = _broken(first), _breaks_must(first)

    def fails(case: Case) -> bool:
        try:
            judged = lane.ask(case)
        except (ValueError, IndexError, TypeError):
            return False  # a reduction made a program that is malformed, not illegal
        alike = judged.blame is not None and judged.outcome == first.outcome and _broken(judged) <= allowed
        return alike and _breaks_must(judged) >= must

    return fails


def _to_blame(lane: Lane, op: str, judged: Verdict) -> Clause:
    """Return, of the most particular clauses that the smallest case breaks, the one whose cases fail most often.

    A small case may still trigger a clause beside the one that matters, as a pair list with one position
    left out does when what breaks is NaN; over the run, few cases of the one fail and most of the other.
    """
    clauses = all_binding(op, lane.terms)
    run = [lane.verdicts[name].clauses for name, subject in lane.subjects.items() if subject.step.op == op]

    def rate(clause: Clause) -> tuple[float, int]:
        spoke = [held[clause.id] for held in run if clause.id in held]
        return spoke.count("broken") / max(len(spoke), 1), clauses.index(clause)

    return max(rivals(lane, op, judged), key=rate)


def rivals(lane: Lane, op: str, judged: Verdict) -> list[Clause]:
    """Return the most particular clauses that a failing case of ``op`` breaks: those that can be to blame."""
    clauses = all_binding(op, lane.terms)
    assert judged.blame is not None
    tier = specificity(judged.blame, clauses)[:2]
    return [c for c in clauses if c.id in _broken(judged) and specificity(c, clauses)[:2] == tier]


def explains(smaller: Verdict, other: Verdict) -> bool:
    """Return whether a case fails with the outcome of a smaller one, and breaks every clause that one breaks.

    What breaks no *must* explains nothing that does.
    """
    alike = smaller.outcome == other.outcome and _broken(smaller) <= _broken(other)
    return alike and _breaks_must(smaller) >= _breaks_must(other)


def _breaks_must(judged: Verdict) -> bool:
    return judged.blame is not None and judged.blame.requirement == "must"


def _broken(judged: Verdict) -> set[str]:
    return {clause for clause, held in judged.clauses.items() if held == "broken"}


def _cost(judged: Verdict, case: Case) -> tuple[int, ...]:
    blocks = [block for operand in case.inputs.values() for block in operand.blocks]
    layouts = [layout for operand in case.inputs.values() for layout in operand.layouts]
    return (
        len(_broken(judged)),
        case.program.world,
        sum(len(block.bits) for block in blocks) + sum(len(block.shape) for block in blocks),
        sum(layout != "contiguous" for layout in layouts),
        sum(_words(step) for step in case.program.steps),
        sum(1 + len(step.inputs) + len(step.into) + step.start for step in case.program.steps)
        + len(case.program.results)
        + len(case.faults)
        + sum(step.ranks is not None for step in case.program.steps),
        sum(len(block.bits.replace("0", "")) for block in blocks),
    )


def _words(step: Step) -> int:
    """Return how much there is to read in a step: its groups and attributes, and a position less than a later one."""
    root = step.attrs.get("root")
    return len(str(step.groups or "")) + len(str(step.attrs)) + (abs(root) if isinstance(root, int) else 0)
