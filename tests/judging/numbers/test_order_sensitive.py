"""The clauses on trees speak where some partial result rounds, overflows or is subnormal, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

TINY = 2.0**-130
"""A subnormal float32."""

LEAST = 2.0**-126
"""The least normal one."""

TREES = {"sum": "numerics.C1", "mean": "numerics.C2", "premul_sum": "numerics.C3", "product": "numerics.C4"}


def judged(op: str, dtype: str, terms: Any, factor: float) -> Verdict:
    """Return what is said of the right answer to an all_reduce of one element a rank."""
    made = tuple(from_array(np.array([term]).astype(NUMPY[dtype])) for term in terms)
    attrs = {"op": op, **({"factor": factor} if op == "premul_sum" else {})}
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs=attrs)
    operand = Operand(blocks=made, layouts=("contiguous",) * len(made))
    mesh = (Axis("i", len(made)),)
    subject = meaning(Case(program=Program(mesh=mesh, steps=(step,), results=("y",)), inputs={"x": operand}))
    blocks = [block for block in subject.expected["y"] if block is not None]
    return verdict(subject, Answer(Observation(results={"y": tuple(map(from_array, blocks))})))


@pytest.mark.parametrize(
    ("op", "dtype", "terms", "factor", "speaks"),
    [
        ("sum", "float32", [2**24 - 1, 1], 1, False),
        ("sum", "float32", [2**24, 1], 1, True),
        ("sum", "float32", [2**24, 1, 1], 1, True),
        ("sum", "float32", [2**24, -(2**24), 1], 1, True),
        ("sum", "float32", [2**23 + 1, 2**23 + 1], 1, False),
        ("sum", "float32", [LEAST, LEAST], 1, False),
        ("sum", "float32", [TINY, TINY], 1, True),
        ("sum", "float32", [LEAST * 1.5, -LEAST], 1, True),
        ("sum", "float32", [0, 0], 1, False),
        ("sum", "float32", [3e38, 3e38], 1, True),
        ("sum", "float32", [1] * 9, 1, False),
        ("sum", "float32", [1e-3] * 9, 1, True),
        ("mean", "float32", [1, 2], 1, False),
        ("mean", "float32", [LEAST, LEAST], 1, True),
        ("mean", "float32", [1, 1, 1], 1, True),
        ("mean", "float32", [0, 0, 0], 1, False),
        ("premul_sum", "float32", [1, 2], 0.5, False),
        ("premul_sum", "float32", [1, 2], 0.1, True),
        ("premul_sum", "float32", [LEAST, LEAST], 0.5, True),
        ("premul_sum", "float32", [TINY, TINY], 2.0**8, True),
        ("premul_sum", "float32", [2.0**20, 2.0**20], TINY, True),
        ("product", "float32", [3, 5], 1, False),
        ("product", "float32", [4097, 4099], 1, True),
        ("product", "float32", [LEAST, 0.5], 1, True),
        ("product", "float32", [LEAST, 2], 1, False),
        ("product", "float32", [0, 3e38], 1, True),
        ("product", "float32", [0, 1e-3], 1, False),
        ("product", "float32", [3e38, 3e38, 0], 1, True),
        ("product", "complex64", [3 + 1j, 5 - 2j], 1, False),
        ("product", "complex64", [3 + 1j, 5 - 2j, 1j], 1, False),
        ("product", "complex64", [1 + 1j, 1 + 1j, 1], 1, True),
        ("product", "complex64", [complex(0, TINY), 1], 1, True),
        ("product", "complex64", [complex(0, LEAST), 1], 1, False),
        ("product", "complex64", [complex(TINY, 0), 1], 1, True),
        ("product", "complex64", [complex(0, LEAST), 0.5j], 1, True),
        ("product", "complex64", [4097 + 4099j, 4099], 1, True),
        ("product", "complex64", [0, 1], 1, True),
        ("sum", "complex64", [complex(1, 2**24), complex(1, 1)], 1, True),
        ("sum", "complex64", [complex(2**24, 1), complex(1, 1)], 1, True),
        ("sum", "complex64", [complex(1, 2), complex(3, 4)], 1, False),
        ("mean", "complex64", [complex(1, TINY), complex(1, 0)], 1, True),
    ],
)
def test_the_order_is_spoken_of_where_it_may_show(
    op: str, dtype: str, terms: list[complex], factor: float, speaks: bool
) -> None:
    found = judged(op, dtype, terms, factor)
    assert found.outcome == "passed"
    assert (TREES[op] in found.clauses) == speaks
