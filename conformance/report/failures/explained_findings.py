"""The findings of one backend, each with what a person wrote about its cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.report.counts.columns import Column
from conformance.report.failures.case_example import read_example
from conformance.report.failures.findings import Finding, findings
from conformance.report.failures.shared_causes import BackendFinding
from conformance.report.inputs.explanations import Explanation, Searches, explains
from conformance.runner.records.record import Failure


def explained(column: Column, explanations: Sequence[Explanation], searches: Searches) -> Iterator[BackendFinding]:
    """Yield the findings of one backend, each with the first explanation that holds of all its cases.

    Where explanations tell the cases of one cause apart, those of each are a finding, and so are those of none.
    """
    records = {(record.backend, record.case): record for record in column.records}
    folders = {id(failure): run.directory for run, failure in column.failures}
    own = findings([each for _, each in column.failures], [each for _, each in column.sequences], records)
    for finding, members in own:
        near = [one for one in explanations if column.entry.name in one.backends and finding.cause in one.causes]
        apart: dict[int | None, list[Failure]] = {}
        for each in members if any(one.shows for one in near) else ():
            text = shown(folders[id(each)], each)
            holds = (place for place, one in enumerate(near) if explains(one, [text], searches))
            apart.setdefault(next(holds, None), []).append(each)
        if len(apart) < 2:
            told = next(iter(apart), next((place for place, one in enumerate(near) if not one.shows), None))
            yield _of(column, finding, members, None if told is None else near[told])
            continue
        for told, some in apart.items():
            for part, of in findings(some, (), records):
                yield _of(column, part, of, None if told is None else near[told])


def _of(
    column: Column, finding: Finding, members: tuple[Failure, ...], explanation: Explanation | None
) -> BackendFinding:
    return BackendFinding(finding, column.label, column.entry.description, members, explanation)


def shown(folder: Path, failure: Failure) -> str:
    """Return what a failure's smallest case shows, line by line.

    These are its id, its program, its inputs with dtype, shape, layout and elements, and what was seen. Of a case that
    is no program of collectives the file is taken for the program. ``folder`` is that of the run.
    """
    case = read_example(folder, failure.file, failure.case)
    blocks = [
        f"{value.name}: {block.dtype}{list(block.shape)} {block.layout} {block.values}"
        for value in case.inputs
        for block in value.blocks
    ]
    program = case.steps if case.dialect == "spmd" or case.source is None else (*case.steps, case.source)
    return "\n".join((failure.case, *program, *blocks, failure.detail))
