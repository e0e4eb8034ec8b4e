"""A known failure covers what shrinks to it, whatever else the drawn case broke."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand, case_id
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.dialects import trial
from conformance.runner.known.failures import ReplayedFailure, cover_drawn, cover_smallest, known_failures, replay_known
from conformance.runner.known.file import read_known, write_known
from conformance.runner.plan import Plan
from conformance.runner.records.known import Known
from conformance.runner.shrinking.minimise import failures
from conformance.runner.worker.in_process import InProcess


class Least(Reference):
    """Gives the least term where the greatest is asked for."""

    def all_reduce(self, blocks: Any, *, op: str, **attributes: Any) -> Any:
        return super().__getattr__("all_reduce")(blocks, op="min" if op == "max" else op, **attributes)


def case_of(*steps: Step) -> Case:
    block = [from_array(np.array([value], np.int32)) for value in (1, 2)]
    return Case(
        program=Program(mesh=(Axis("i", 2),), steps=steps, results=(steps[-1].outputs[0],)),
        inputs={"x": Operand(blocks=tuple(block), layouts=("contiguous", "contiguous"))},
    )


GREATEST = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "max"})
JOINED = Step(op="all_gather", inputs=("y",), outputs=("z",), axes=("i",), attrs={"axis": 0, "tiled": True})


def judged(folder: Path, clause: str) -> tuple[BackendRun, list[ReplayedFailure], str]:
    """Return a run of one program whose mistake is that of an entry, which it does not show by its clauses."""
    known = case_of(GREATEST)
    entry = Known(
        case=case_id(known),
        backend="it",
        clause=clause,
        outcome="failed",
        issue="https://acme.example/issues/7",
        owner="Ann",
        expiry=date(2999, 12, 31),
    )
    write_known(folder / "known.json", [entry], [known])
    backend = BackendRun("it", InProcess(BackendSpec("it", ()), backend=Least()), lambda record: None)
    one = trial(case_of(GREATEST, JOINED))
    assert one is not None
    backend.offer(one)
    backend.collect()
    plan = Plan(ops=("all_gather", "all_reduce"), examples=1)
    entries = read_known(folder / "known.json", ["it"])
    replayed = replay_known(entries, backend, plan, datetime.now(UTC).date(), lambda: False)
    cover_drawn(replayed, backend)
    return backend, replayed, one.name


def test_it_covers_a_program_that_shrinks_to_its_case(tmp_path: Path) -> None:
    backend, replayed, name = judged(tmp_path, "reduction.C3")
    assert list(backend.failures.left("all_gather")) == [name]
    assert not {"reduction.C3"} & set(backend.failures.verdict_of(name).clauses)
    new = failures(backend, "all_gather", lambda name, _: name, known=partial(cover_smallest, replayed, backend))
    assert list(new) == []
    (known,) = known_failures(replayed, backend, lambda name, _: name)
    assert known.explains == (known.case, name)


def test_an_entry_that_does_not_stand_covers_nothing(tmp_path: Path) -> None:
    backend, replayed, name = judged(tmp_path, "collective.C1")
    cover = partial(cover_smallest, replayed, backend)
    (new,) = failures(backend, "all_gather", lambda name, _: name, known=cover)
    assert (replayed[0].expected.state, new.explains) == ("changed", (name,))
