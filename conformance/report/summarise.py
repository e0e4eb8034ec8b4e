"""From runs and the specification to the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from conformance.report.counts.columns import Column, columns
from conformance.report.counts.matrix import Counts, Key, cells, count, rows
from conformance.report.counts.numbers import reached
from conformance.report.counts.placements import placements
from conformance.report.counts.topics import Topic, treated
from conformance.report.error import ReportError
from conformance.report.evidence import suites_of
from conformance.report.failures.buckets import buckets
from conformance.report.failures.explained_findings import explained
from conformance.report.failures.findings import Finding
from conformance.report.failures.shared_causes import SharedFinding, joined
from conformance.report.failures.titles import title
from conformance.report.inputs.explanations import Explanation, Searches
from conformance.report.inputs.qualification import UNQUALIFIED, Qualification
from conformance.report.inputs.run import Run
from conformance.report.inputs.specification import ClauseText
from conformance.report.summary import BackendSummary, Bucket, KnownFailure, Report, RunSummary
from conformance.report.verdict import backend_summary, not_asked
from conformance.runner.outcomes import FAILING
from conformance.runner.plan import EXAMPLES

MOST_NAMED: Final = 20
"""Clauses that a warning names."""

Places = dict[tuple[str, str, str | None, str], int]
"""The place of a finding, by backend, operation, clause and case of a failure."""


def summarise(
    runs: Sequence[Run],
    specification: Sequence[ClauseText],
    *,
    explanations: Sequence[Explanation] = (),
    qualification: Qualification = UNQUALIFIED,
    topics: Sequence[Topic] = (),
) -> Report:
    """Return the report on ``runs``, judged by ``specification``; raise ``ReportError`` when there is no run.

    Of ``topics`` those are told that some case was about.
    """
    if not runs:
        raise ReportError("a report needs at least one run directory")
    judged = columns(runs)
    counts = count(judged)
    exercised = {clause for by_cell in counts.values() for _, clause, _ in by_cell if clause is not None}
    searches = Searches()
    together = joined(one for column in judged for one in explained(column, explanations, searches))
    places = _places(together)
    killers = [mutant for mutant in qualification.mutants if mutant.killed]
    killing = {clause for mutant in killers for clause in (mutant.clause, *mutant.clauses)}
    shown = tuple(
        msgspec.structs.replace(bucket, finding=places.get((bucket.backend, bucket.op, bucket.clause, bucket.case)))
        for bucket in buckets(judged)
    )
    found = _titled([one.finding for one in together], shown, specification)
    return Report(
        runs=tuple(_run(run) for run in runs),
        backends=tuple(_backend(column, counts[column.label], specification, found) for column in judged),
        clauses=tuple(specification),
        cells=tuple(cells(judged, counts, rows(specification, counts))),
        buckets=shown,
        findings=found,
        classes=tuple(reached(judged)),
        placements=tuple(placements(judged)),
        topics=tuple(topics),
        treated=tuple(treated(judged, topics)),
        known=tuple(_known(judged)),
        never_exercised=tuple(_never(runs, specification, exercised)),
        mutants=qualification.mutants,
        uncovered=qualification.uncovered,
        unkilled_clauses=tuple(c.id for c in specification if c.id not in killing) if qualification.mutants else (),
        stale_explanations=tuple(_stale(explanations, judged, together, specification)),
        warnings=tuple(_warnings(runs, judged, counts, specification)),
        basis=_basis(runs),
    )


def _titled(
    found: Sequence[Finding], shown: Sequence[Bucket], specification: Sequence[ClauseText]
) -> tuple[Finding, ...]:
    """Return findings with their titles, made of their smallest cases where those can be read."""
    texts = {text.id: text for text in specification}
    examples = {(bucket.finding, bucket.case): bucket.example for bucket in shown}
    return tuple(
        msgspec.structs.replace(one, title=title(one, examples.get((number, one.case)), texts))
        for number, one in enumerate(found)
    )


def _backend(
    column: Column, counts: Mapping[Key, Counter[str]], specification: Sequence[ClauseText], found: Sequence[Finding]
) -> BackendSummary:
    """Return what one backend's cases amount to, with how many findings are its, be it with others."""
    mine = [one for one in found if column.label in (one.backend, *one.others)]
    known = sum(one.known is not None for one in mine)
    summary = backend_summary(column, counts, specification)
    return msgspec.structs.replace(summary, findings=len(mine) - known, known_findings=known)


def _basis(runs: Sequence[Run]) -> str:
    """Return of which files the verdicts are made, in a sentence."""
    read = sum(run.read for run in runs)
    taken = sum(run.footer.resumed for run in runs if run.footer is not None and not run.read)
    if read:
        files = "the log file of one run" if read == 1 else f"the log files of {read} runs"
        return f"The verdicts rest on {files} as found: who could write there could change them."
    if taken:
        return (
            f"The verdicts rest in part on files: {taken:,} records were taken over from the log of an earlier run or "
            "of slices, and who could write there could change them."
        )
    return ""


def _places(together: Iterable[SharedFinding]) -> Places:
    """Return where each failure is among the findings."""
    return {
        (each.label, one.op, one.clause, one.case): number
        for number, found in enumerate(together)
        for each in found.members
        for one in each.members
    }


def _stale(
    explanations: Iterable[Explanation],
    judged: Sequence[Column],
    together: Iterable[SharedFinding],
    specification: Sequence[ClauseText],
) -> Iterable[Explanation]:
    """Yield explanations of what no longer fails, for the backends that were asked everything to the end."""
    names = {column.label: column.entry.name for column in judged}
    causes = {(names[each.label], each.finding.cause) for found in together for each in found.members}
    whole = {column.entry.name for column in judged if _asked_all(column, specification)}
    for one in (each for each in explanations if not each.rare):
        shown = {name for name, cause in causes if cause in one.causes}
        gone = tuple(name for name in one.backends if name in whole and name not in shown)
        if gone:
            yield msgspec.structs.replace(one, backends=gone)


def _asked_all(column: Column, specification: Sequence[ClauseText]) -> bool:
    """Return whether the runs of a backend were asked for all operations of all suites, and are whole.

    A run of fewer examples than the default may leave a failure undrawn that is there.
    """
    whole = all(run.why_incomplete is None and run.header.examples >= EXAMPLES for run in column.runs)
    every = {text.suite for text in specification} <= suites_of(column)
    return whole and every and not not_asked(column, specification)


def _run(run: Run) -> RunSummary:
    header, footer = run.header, run.footer
    return RunSummary(
        name=run.name,
        why_incomplete=run.why_incomplete,
        suites=header.suites,
        ops=header.ops,
        profile=header.profile,
        seed=header.seed,
        examples=header.examples,
        spec_digest=header.spec_digest,
        reference_digest=header.reference_digest,
        started=header.started,
        finished=footer.finished if footer else None,
        seconds=footer.seconds if footer else None,
        records=len(run.records),
        backends=tuple(entry.name for entry in header.backends),
        environment=header.environment,
        coverage=footer.coverage if footer else {},
    )


def _never(runs: Iterable[Run], specification: Iterable[ClauseText], exercised: set[str]) -> Iterable[str]:
    """Yield the clauses that no case of any run triggered, those of operations that were not asked for included."""
    told = {clause for run in runs if run.footer for clause in run.footer.clauses_never_exercised}
    known = [clause.id for clause in specification]
    yield from (clause for clause in known if clause not in exercised)
    yield from sorted(told - exercised - set(known))


def _known(judged: Sequence[Column]) -> Iterable[KnownFailure]:
    for column in judged:
        for record in column.replayed:
            if record.expected is not None:
                yield KnownFailure(
                    backend=column.label,
                    op=record.op,
                    case=record.case,
                    outcome=record.outcome,
                    detail=record.detail,
                    expected=record.expected,
                )


def _warnings(
    runs: Sequence[Run], judged: Sequence[Column], counts: Counts, specification: Sequence[ClauseText]
) -> Iterable[str]:
    for run in runs:
        if run.why_incomplete:
            yield f"Run {run.name} is incomplete: {run.why_incomplete}."
    if len({(run.header.spec_digest, run.header.reference_digest) for run in runs}) > 1:
        yield "The runs were judged by different specifications or references; their columns do not compare."
    known = {clause.id for clause in specification}
    strange = {c for by_cell in counts.values() for _, c, _ in by_cell if c is not None and c not in known}
    if strange:
        more = len(strange) - MOST_NAMED
        named = ", ".join(sorted(strange)[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        yield f"Clauses that this version of the specification does not have: {named}."
    for one in _known(judged):
        if not one.expected.met:
            yield f"{one.backend}: {one.expected.where}: {one.case} {one.expected.says}."
    for column in judged:
        if column.unstable:
            many = f"{column.unstable} case{'' if column.unstable == 1 else 's'}"
            yield f"{column.label}: {many} ended differently in different runs; the worst is shown."
        loose = sum(r.outcome in FAILING and r.case not in _explained(column) for r in column.records)
        if loose:
            many = f"{loose} failing case{'; it is' if loose == 1 else 's; they are'}"
            yield f"{column.label}: no minimal case explains {many} counted where they broke."


def _explained(column: Column) -> set[str]:
    found = [case for _, failure in column.failures for case in (failure.case, *failure.explains)]
    return {*found, *(case for _, one in column.sequences for case in one.explains)}
