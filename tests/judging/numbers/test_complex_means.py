"""A complex mean has a NaN beside what was not finite, and two parts are no NaN by each other."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

NAN, INF, BIG = np.nan, np.inf, 3e38


@pytest.mark.parametrize("ranks", [3, 4])
@pytest.mark.parametrize(
    ("term", "seen", "right"),
    [
        (1 + 2j, complex(NAN, NAN), False),
        (1 + 2j, complex(1, NAN), False),
        (complex(1, BIG), complex(NAN, INF), True),
        (complex(1, BIG), complex(NAN, NAN), False),
        (complex(BIG, BIG), complex(NAN, NAN), True),
        (complex(1, NAN), complex(NAN, NAN), True),
        (complex(1, INF), complex(NAN, INF), True),
    ],
)
def test_c9_and_c10_parts_are_no_nan_by_each_other(ranks: int, term: complex, seen: complex, right: bool) -> None:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "mean"})
    blocks = (from_array(np.array([term], np.complex64)),) * ranks
    program = Program(mesh=(Axis("i", ranks),), steps=(step,), results=("y",))
    case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * ranks)})
    given = Observation(results={"y": (from_array(np.array([seen], np.complex64)),) * ranks})
    musts = verdict(meaning(case), Answer(given)).clauses
    assert (musts["reduction.C9" if ranks == 4 else "reduction.C10"] == "held") == right
