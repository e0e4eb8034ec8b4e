"""Which clauses said nothing of a backend: the cases that make them speak were all outside its claims."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.dialects import operations
from conformance.runner.plan import Plan
from conformance.runner.records.record import Silence


def silence(plan: Plan, backend: BackendRun, exercised: Mapping[str, Collection[str]]) -> Silence:
    """Return the *must* clauses of claimed operations and the plan's suites that spoke in no case it was judged by.

    ``exercised`` has, for each operation, the clauses that its cases made speak, judged or not.
    """
    tally = backend.records.tally
    spoke, suites = tally.clauses, +tally.suites
    left = {
        clause.id: clause.suite
        for op, clauses in exercised.items()
        if op in backend.scope.claims
        for clause in operations()[op].own(op, backend.terms)
        if clause.requirement == "must" and clause.suite in plan.suites and clause.id in set(clauses) - spoke
    }
    # What these are about is in answers, so that no case shows which of them should have spoken.
    answers = {
        clause.id
        for op in tally.ops
        if operations()[op].answered
        for clause in operations()[op].own(op, backend.terms)
        if clause.requirement == "must" and clause.id not in spoke
    }
    unheard: dict[str, list[str]] = {}
    for name, suite in sorted(left.items()):
        if suite not in suites:
            unheard.setdefault(suite, []).append(name)
    return Silence(
        clauses=tuple(sorted(name for name, suite in left.items() if suite in suites and name not in answers)),
        answers=tuple(sorted(answers)),
        suites={suite: tuple(names) for suite, names in sorted(unheard.items())},
        words=never_seen(backend.terms.numbers.chosen, +tally.words),
    )


def never_seen(chosen: Iterable[tuple[str, str, str]], shown: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a number model, as "kind word", that were ``shown`` of none of the dtypes they are for."""
    seen = {each.partition(" ")[2] for each in shown}
    return tuple(sorted({f"{kind} {word}" for _, kind, word in chosen} - seen))
