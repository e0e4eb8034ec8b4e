"""The matrix: operations and clauses against backends, every cell counted by dtype."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from conformance.report.counts.columns import Column
from conformance.report.counts.tally import clause_words, freeze, op_words, speaking, state, total
from conformance.report.inputs.specification import ClauseText
from conformance.report.summary import Cell

Key = tuple[str, str | None, str]
"""Operation, clause (``None`` for the whole operation), dtype."""

Counts = Mapping[str, Mapping[Key, Counter[str]]]
"""Words counted by key, for each backend's label."""

Row = tuple[str, str | None]


def count(judged: Sequence[Column]) -> Counts:
    """Return every word counted, by backend, operation, clause and dtype."""
    # Only of what was not judged is it asked.
    known: dict[str, set[str]] = {
        record.case: set() for column in judged for record in column.records if not record.clauses
    }
    for column in judged:
        for record in column.records:
            if record.case in known:
                known[record.case].update(record.clauses)
    return {column.label: _count(column, known) for column in judged}


def _count(column: Column, known: Mapping[str, set[str]]) -> Mapping[Key, Counter[str]]:
    counts: defaultdict[Key, Counter[str]] = defaultdict(Counter)
    for record in column.records:
        blamed, known_clauses = column.blamed.get(record.case, {}), column.known.get(record.case, set())
        counts[record.op, None, record.dtype].update(op_words(record, blamed, known_clauses))
        for clause in speaking(record, blamed.keys(), known):
            counts[record.op, clause, record.dtype].update(clause_words(record, clause, blamed, known_clauses))
    return counts


def rows(specification: Sequence[ClauseText], counts: Counts) -> tuple[Row, ...]:
    """Return the rows: each operation, then its clauses, then the shared ones that some backend met in it.

    Operations and clauses that only the logs know come where they belong, last.
    """
    met: dict[str, list[str]] = {}
    for by_cell in counts.values():
        for op, clause, _ in by_cell:
            clauses = met.setdefault(op, [])
            if clause is not None and clause not in clauses:
                clauses.append(clause)
    own: dict[str, list[str]] = {}
    for text in specification:
        if not text.shared:
            own.setdefault(text.op, []).append(text.id)
    shared = [text.id for text in specification if text.shared]
    found: list[Row] = []
    for op in (*own, *sorted(set(met) - set(own))):
        listed = own.get(op, []) + [clause for clause in shared if clause in met.get(op, ())]
        surplus = sorted(set(met.get(op, ())) - set(listed))
        found += [(op, None), *((op, clause) for clause in (*listed, *surplus))]
    return tuple(found)


def cells(judged: Sequence[Column], counts: Counts, listed: Sequence[Row]) -> Iterable[Cell]:
    """Yield a cell for every row and backend, row by row."""
    grouped = {column.label: by_row(counts[column.label]) for column in judged}
    for op, clause in listed:
        for column in judged:
            by_dtype = grouped[column.label].get((op, clause), {})
            tally = freeze(total(by_dtype.values()))
            claims = column.entry.claims
            # A backend that never was asked because it does not claim the operation has said so all the same.
            silent = tally.cases == 0 and claims and op not in claims
            yield Cell(
                backend=column.label,
                op=op,
                clause=clause,
                state="unsupported" if silent else state(tally),
                tally=tally,
                by_dtype={dtype: freeze(words) for dtype, words in sorted(by_dtype.items())},
            )


def by_row(counts: Mapping[Key, Counter[str]]) -> Mapping[Row, dict[str, Counter[str]]]:
    """Return the counts of one backend by row, then by dtype."""
    grouped: defaultdict[Row, dict[str, Counter[str]]] = defaultdict(dict)
    for (op, clause, dtype), words in counts.items():
        grouped[op, clause][dtype] = words
    return grouped
