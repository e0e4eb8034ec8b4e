"""What a run showed, each a function of its records: cut anywhere and joined again, a run has shown the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from conformance.backends.base import Claims
from conformance.cases.declarations.terms import Terms
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.claims import left_out
from conformance.runner.dialects import operations
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.plan import Plan
from conformance.runner.records.exercised import Exercised
from conformance.runner.records.power import Power
from conformance.runner.records.record import CaseRecord, DrawnParts, Record
from conformance.specs import every_clause
from conformance.vectors.power import power


def all_drawn(drawn: DrawnParts, kept: Iterable[Record], backends: Sequence[BackendRun]) -> DrawnParts:
    """Return what was drawn now and by the run that is gone on from, with the clauses that spoke in answers alone."""
    for record in kept:
        if isinstance(record, DrawnParts):
            drawn = drawn.after(record)
    found = {op: set(clauses) for op, clauses in drawn.exercised.items()}
    for backend in backends:
        for op, clauses in backend.records.tally.clauses_by_op.items():
            if operations()[op].answered or not found.get(op):
                found.setdefault(op, set()).update(clauses)
    exercised = {op: tuple(sorted(clauses)) for op, clauses in sorted(found.items())}
    return DrawnParts(exercised=exercised, undrawn=drawn.undrawn, beyond=drawn.beyond)


def never_spoken(plan: Plan, drawn: DrawnParts, claims: Sequence[Claims]) -> tuple[str, ...]:
    """Return the clauses of the plan that no case made speak, but for those that only cases outside all claims would.

    Of these few are drawn. Where draws are not counted, no clause is owed a case: which of them the deck has was seen
    to as it was made. ``claims`` are those of the backends.
    """
    if not plan.counts_draws:
        return ()
    found: dict[str, set[bool]] = {}
    for draws in plan.draws():
        for clause in operations()[draws.op].own(draws.op, Terms()):
            if clause.suite == draws.suite:
                found.setdefault(clause.id, set()).add(draws.name in drawn.beyond)
    beyond = {name for name, each in found.items() if each == {True}}
    silent = plan.clauses().difference(beyond, *drawn.exercised.values())
    return tuple(sorted(name for name in silent if not _left_out_by_all(plan, name, claims)))


def _left_out_by_all(plan: Plan, name: str, claims: Sequence[Claims]) -> bool:
    """Return whether the claims of every backend leave out all cases that a clause is about."""
    clause = every_clause().get(name)
    own = name.partition(".")[0]
    ops = (own,) if own in plan.ops else plan.ops
    needs = clause.needs if clause is not None else ()
    return bool(claims) and all(left_out(name, needs, ops, each) for each in claims)


def wanted(plan: Plan, claims: Collection[str]) -> tuple[str, ...]:
    """Return the operations of a plan that are claimed, and those asked for by name."""
    chosen = {*plan.named, *claims}
    return tuple(op for op in plan.ops if op in chosen)


def unjudged(plan: Plan, backend: BackendRun) -> tuple[str, ...]:
    """Return the operations asked for by name, and those claimed, of which no case was judged."""
    return backend.records.tally.unjudged(wanted(plan, backend.scope.claims))


def unshown(plan: Plan, backend: BackendRun) -> tuple[str, ...]:
    """Return those of them of which cases were judged, and none passed with a value: what was refused shows none."""
    return backend.records.tally.unshown(wanted(plan, backend.scope.claims))


def exercised(plan: Plan, backend: BackendRun) -> Exercised:
    """Return what of its claims the judged cases of a backend showed."""
    records = backend.records
    return records.promises.exercised(+records.tally.met, plan.ops)


def power_of(claims: Claims, records: Iterable[CaseRecord]) -> Power:
    """Return what the cases of one backend can see: those of the deck that came to a verdict."""
    return power(claims, {record.case for record in records if record.outcome not in UNJUDGED})
