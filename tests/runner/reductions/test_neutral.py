"""What a case holds beside what matters is taken away, so that no clause about it is to blame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.codec import load
from conformance.cases.tensor.dtypes import Array
from conformance.judging.cause import signature
from conformance.runner.explore import explore
from conformance.runner.plan import Plan
from conformance.runner.records.record import Failure
from conformance.runner.reductions.neutral_moves import empty
from conformance.runner.reductions.ranks import contracted
from conformance.runner.replay import replay
from conformance.runner.worker.in_process import InProcess


class ProductAdds(Reference):
    """Adds numbers where it should multiply them."""

    def all_reduce(self, blocks: list[Array], *, op: str, **rest: Any) -> list[Array]:
        right = super().__getattr__("all_reduce")
        adds = op == "product" and blocks[0].dtype != bool
        return right(blocks, op="sum" if adds else op, **rest)  # type: ignore[no-any-return]


class RefusesNegative(Reference):
    """Refuses an axis that counts from the end, in words that differ from case to case."""

    def all_gather(self, blocks: list[Array], *, axis: int, **rest: Any) -> list[Array]:
        if axis < 0:
            raise RuntimeError(f"axis {axis} of {blocks[0].dtype}{blocks[0].shape}")
        return super().__getattr__("all_gather")(blocks, axis=axis, **rest)  # type: ignore[no-any-return]


def musts(backend: Backend, op: str, directory: Path) -> list[Failure]:
    worker = InProcess(BackendSpec(type(backend).__name__, ()), backend=backend)
    result = explore(Plan(ops=(op,), examples=80, suites=("collectives",)), {"it": worker}, directory)
    for failure in result.failures:
        judged = replay(load(directory / failure.file), worker).verdict
        assert judged.blame is not None
        assert (judged.blame.id, judged.outcome, judged.error) == (failure.clause, failure.outcome, failure.error)
    return [failure for failure in result.failures if failure.requirement == "must"]


@pytest.mark.parametrize(
    ("backend", "op", "clause"),
    [(ProductAdds(), "all_reduce", "reduction.C2"), (RefusesNegative(), "all_gather", "all_gather.C4")],
    ids=["wrap-arounds of a product that adds", "single ranks of an axis that is refused"],
)
def test_what_every_failing_case_shares_is_to_blame(backend: Backend, op: str, clause: str, tmp_path: Path) -> None:
    (failure,) = musts(backend, op, tmp_path)
    case = load(tmp_path / failure.file)
    assert (failure.clause, failure.minimal, case.program.world, empty(case)) == (clause, True, 2, False)


def test_who_sent_to_a_position_that_is_gone_sends_on() -> None:
    assert contracted(((0, 1), (1, 2), (2, 0)), 1) == ((0, 1), (1, 0))
    assert contracted(((0, 2), (1, 1)), 1) == ((0, 1),)


def test_a_signature_tells_signals_and_messages_apart_and_not_their_data() -> None:
    split = signature("errored", "RuntimeError", "rank 0 raised RuntimeError: Split sizes [1, 2] of int32")
    assert split == signature("errored", "RuntimeError", "rank 1 raised RuntimeError: Split sizes [3] of float16")
    assert split != signature("errored", "Crash SIGSEGV", "rank 0 raised Crash: rank 0 was ended by SIGSEGV")
    assert signature("crashed", "SIGSEGV", "was killed") != signature("crashed", "SIGABRT", "was killed")
