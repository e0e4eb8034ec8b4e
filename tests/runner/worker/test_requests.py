"""What a worker is told of a case, and which answers fit it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.generate.domains import SHARDED
from conformance.runner.draws import numbered
from conformance.runner.worker.misfits import misfit
from conformance.runner.worker.request_lines import run_line
from tests.runner.conftest import broadcast_of


def test_a_request_has_the_inputs_and_no_expected_value(tmp_path: Path) -> None:
    blocks = [np.array([0x01020304, 0x11121314], np.int32), np.array([0x21222324, 0x31323334], np.int32)]
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
    given = Operand(blocks=tuple(from_array(block) for block in blocks), layouts=("contiguous",) * 2)
    line = run_line(
        1, Case(program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)), inputs={"x": given}), tmp_path
    )
    for block in blocks:
        assert block.tobytes().hex().encode() in line
        assert block[:1].tobytes().hex().encode() in line
    for element in sum(blocks):
        assert element.tobytes().hex().encode() not in line
    assert list(tmp_path.iterdir()) == []


def test_an_answer_that_refuses_on_every_rank_fits_its_case_and_one_on_some_does_not() -> None:
    no = RankError(kind="ValueError", message="no", category="internal")
    assert misfit(broadcast_of(1), Observation(errors=(no, no))) is None
    assert misfit(broadcast_of(1), Observation(errors=(no,))) is not None


def test_an_answer_that_says_how_many_elements_an_unasked_tensor_has_fits_no_case() -> None:
    case = numbered(SHARDED, 0, 1)[0]
    seen = Reference().sharded(case)
    assert misfit(case, seen) is None
    more = replace(seen, sizes={**seen.sizes, "unasked": 4})
    assert misfit(case, more) == "an observation says something of 'unasked', which is no result"
