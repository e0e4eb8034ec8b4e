"""A backend that fails one known case of broadcast, and its entry."""

from __future__ import annotations

from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case import Case, case_id
from conformance.cases.tensor.dtypes import Array
from conformance.runner.explore import explore
from conformance.runner.known.file import read_known, write_known
from conformance.runner.plan import Plan
from conformance.runner.records.known import Known
from conformance.runner.result import Result
from conformance.runner.worker.in_process import InProcess
from tests.runner.conftest import broadcast_of

CASE = broadcast_of(1, extent=1)


class Silent(Reference):
    """Sends nothing; with ``fails`` only in those of its calls."""

    def __init__(self, fails: range | None = None) -> None:
        super().__init__()
        self.fails, self.calls = fails, count()

    def broadcast(self, blocks: list[Array], *, root: int, groups: Any) -> list[Array]:
        right: list[Array] = super().__getattr__("broadcast")(blocks, root=root, groups=groups)
        return right if self.fails is not None and next(self.calls) not in self.fails else [b.copy() for b in blocks]


def entry(case: Case = CASE, **changes: Any) -> Known:
    values = {
        "case": case_id(case),
        "backend": "it",
        "clause": "broadcast.C1",
        "outcome": "failed",
        "issue": "https://acme.example/issues/7",
        "owner": "Ann",
        "expiry": date(2999, 12, 31),
    }
    return Known(**{**values, **changes})


def run(
    backend: Reference, folder: Path, *entries: Known, examples: int = 100, resume: bool = False, **plan: Any
) -> Result:
    known = ()
    if entries:
        write_known(folder / "known.json", entries, [CASE])
        known = read_known(folder / "known.json", ["it"])
    worker = InProcess(BackendSpec(name="it", command=()), backend=backend)
    wanted = Plan(ops=("broadcast",), examples=examples, **{"suites": ("collectives",), **plan})
    return explore(wanted, {"it": worker}, folder / "run", known=known, resume=resume)
