"""Where a stored case came from, as the log beside it says."""

from __future__ import annotations

from pathlib import Path

from conformance.report.error import ReportError
from conformance.report.inputs.run import LOG, read_run
from conformance.runner.log.storage import stored


def origins_of(file: Path, name: str) -> dict[str, str]:
    """Return, by backend, where the case ``name`` in ``file`` is from: of a smallest case that which it stands for.

    There is nothing where no log lies beside the folder of the case, or it says nothing of it.
    """
    folder = file.resolve().parent.parent
    if not stored(folder / LOG).is_file():
        return {}
    try:
        run = read_run(folder)
    except ReportError:
        return {}
    records = {(record.backend, record.case): record.origin for record in run.records if record.origin}
    found = {backend: origin for (backend, case), origin in records.items() if case == name}
    for failure in run.failures:
        if name in (failure.case, *failure.alike):
            known = (records.get((failure.backend, case)) for case in failure.explains)
            if (origin := next(filter(None, known), None)) is not None:
                found.setdefault(failure.backend, f"a larger case, {origin}")
    return found
