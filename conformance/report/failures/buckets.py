"""Failures in buckets, each with its smallest case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from conformance.judging.cause import Signature, signature
from conformance.judging.clause import Outcome
from conformance.report.counts.columns import Column
from conformance.report.counts.tally import SEVERITY
from conformance.report.failures.case_example import read_example
from conformance.report.failures.example import Example
from conformance.report.inputs.run import Run
from conformance.report.summary import Bucket
from conformance.runner.outcomes import FAILING
from conformance.runner.records.record import CaseRecord, Failure, case_file

Key = tuple[str, str | None, Outcome, str, str, str]
"""Operation, clause to blame, signature, and of a known failure the case that its entry names."""


def buckets(judged: Sequence[Column]) -> tuple[Bucket, ...]:
    """Return every bucket, backend by backend, new before known, *must* before *should*, then by operation."""
    return tuple(bucket for column in judged for bucket in _of_column(column))


def _of_column(column: Column) -> list[Bucket]:
    records = {record.case: record for record in column.records}
    smallest: dict[Key, tuple[Run, Failure]] = {}
    members: defaultdict[Key, set[str]] = defaultdict(set)
    for run, failure in column.failures:
        known_case = failure.case if failure.known else ""
        key: Key = (failure.op, failure.clause, *_signature(failure), known_case)
        known = smallest.get(key)
        if known is None or (failure.minimal and not known[1].minimal):
            smallest[key] = (run, failure)
        members[key].update(case for case in failure.explains if case in records)
    found = [_minimised(column, run, failure, members[key], records) for key, (run, failure) in smallest.items()]
    explained = {case for _, one in column.sequences for case in one.explains}.union(*members.values())
    found += _loose(column, explained)
    return sorted(found, key=lambda b: (b.known is not None, SEVERITY[b.requirement], b.op, b.clause or "", b.outcome))


def _signature(failure: Failure) -> Signature:
    return signature(failure.outcome, failure.error, failure.detail)


def _minimised(
    column: Column, run: Run, failure: Failure, members: set[str], records: Mapping[str, CaseRecord]
) -> Bucket:
    mine = [records[case] for case in members if case in records]
    example = read_example(run.directory, failure.file, failure.case)
    return Bucket(
        backend=column.label,
        name=column.entry.name,
        op=failure.op,
        clause=failure.clause,
        outcome=failure.outcome,
        requirement=failure.requirement,
        cases=len(members),
        dtypes=tuple(sorted({record.dtype for record in mine})),
        worlds=tuple(sorted({record.world for record in mine} | ({example.world} if example.world else set()))),
        case=failure.case,
        minimal=failure.minimal,
        detail=failure.detail,
        error=failure.error,
        file=case_file(failure.case) if example.source is not None else None,
        example=example,
        known=failure.known,
    )


def _loose(column: Column, explained: set[str]) -> Iterable[Bucket]:
    """Yield buckets of the failing cases that the run never minimised, by their smallest world."""
    groups: defaultdict[Key, list[CaseRecord]] = defaultdict(list)
    for record in column.records:
        if record.outcome in FAILING and record.case not in explained:
            groups[record.op, record.blame, *signature(record.outcome, record.error, record.detail), ""].append(record)
    for (op, clause, outcome, error, *_), records in groups.items():
        first = min(records, key=lambda record: (record.world, record.case))
        yield Bucket(
            backend=column.label,
            name=column.entry.name,
            op=op,
            clause=clause,
            outcome=outcome,
            requirement=first.requirement or "must",
            cases=len(records),
            dtypes=tuple(sorted({record.dtype for record in records})),
            worlds=tuple(sorted({record.world for record in records})),
            case=first.case,
            minimal=False,
            detail=first.detail or "",
            error=error or None,
            file=None,
            example=Example(problem="the run ended before it minimised this failure; its cases are not stored"),
        )
