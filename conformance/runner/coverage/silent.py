"""Which clauses said nothing of a backend: the cases that make them speak were all outside its claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from conformance.runner.backend_run import Lane
from conformance.runner.log.log import Silence
from conformance.runner.meaning import binding
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.plan import Plan


def silence(plan: Plan, lane: Lane, exercised: Mapping[str, AbstractSet[str]]) -> Silence:
    """Return the *must* clauses of claimed operations and the plan's suites that spoke in no case it was judged by.

    ``exercised`` has, for each operation, the clauses that its cases made speak, judged or not. Of a suite without any
    judged case only the name is told.
    """
    judged = [name for name in lane.suites if lane.verdicts[name].outcome not in UNJUDGED]
    spoke = {clause for name in judged for clause in lane.verdicts[name].clauses}
    shown = {lane.suites[name] for name in judged}
    left = {
        clause.id: clause.suite
        for op, clauses in exercised.items()
        if op in lane.claims
        for clause in binding(op, lane.terms)
        if clause.requirement == "must" and clause.suite in plan.suites and clause.id in clauses - spoke
    }
    return Silence(
        clauses=tuple(sorted(name for name, suite in left.items() if suite in shown)),
        suites=tuple(sorted(set(left.values()) - shown)),
        words=never_seen(lane.terms.numbers.chosen, (each for name in judged for each in lane.verdicts[name].shown)),
    )


def never_seen(chosen: Iterable[tuple[str, str, str]], shown: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a number model, as "kind word", that were ``shown`` of none of the dtypes they are for."""
    seen = {each.partition(" ")[2] for each in shown}
    return tuple(sorted({f"{kind} {word}" for _, kind, word in chosen} - seen))
