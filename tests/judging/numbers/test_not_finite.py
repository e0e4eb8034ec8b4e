"""Terms of which one is infinite and whose trees are too many: what some tree comes to is right, and no other value."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

MORE = [1 + at / 32 for at in range(1, 24)]
ADDED = np.array([np.inf, -2e38, 1.1e38, -2e38, *(1e38 * each for each in MORE[4:])], np.float32)
MULTIPLIED = np.array([np.inf, 1e-30, 3e10, 4e10, 1e-30, *(3e10 * each for each in MORE[5:])], np.float32)
COMPLEX = np.array([complex(at + 1, 1) for at in range(24)], np.complex64)
COMPLEX[12] = complex(0, np.inf)
SMALL = np.array([np.inf, *MORE], np.float32)


def judged(op: str, terms: Array, value: complex) -> Verdict:
    """Return what is said where every rank gives a value for what all of them bring a term to."""
    world = len(terms)
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": op})
    operand = Operand(blocks=tuple(from_array(each) for each in terms), layouts=("contiguous",) * world)
    case = Case(program=Program(mesh=(Axis("i", world),), steps=(step,), results=("y",)), inputs={"x": operand})
    given = from_array(np.array(value if terms.dtype.kind == "c" else value.real, terms.dtype))
    return verdict(meaning(case), Answer(Observation(results={"y": (given,) * world})))


@pytest.mark.parametrize(
    ("op", "terms", "value", "found"),
    [
        ("sum", ADDED, np.nan, "passed"),
        ("sum", ADDED, -np.inf, "failed"),
        ("sum", SMALL, np.nan, "failed"),
        ("mean", ADDED, np.nan, "passed"),
        ("product", MULTIPLIED, np.nan, "passed"),
        ("product", MULTIPLIED, -np.inf, "failed"),
        ("product", SMALL, np.nan, "failed"),
        ("product", SMALL, 3.0, "failed"),
        ("product", COMPLEX, complex(np.nan, -np.inf), "passed"),
        ("product", COMPLEX, complex(np.nan, 5), "failed"),
    ],
)
def test_numerics_c8_c17_c24_of_trees_that_are_too_many(op: str, terms: Array, value: complex, found: str) -> None:
    assert judged(op, terms, complex(value)).outcome == found


FAR = np.array([complex(2.0**64, 2.0**64), complex(2.0**64, 2.0**63)], np.complex64)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (complex(np.inf, np.inf), ("passed", "exact")),
        # Rounded once: the first product is too great, and the sum is not.
        (complex(2.0**127, np.inf), ("passed", "rank_order_tree")),
        (complex(2.0**126, np.inf), ("failed",)),
        (complex(-np.inf, np.inf), ("failed",)),
        (complex(2.0**127, 2.0**127), ("failed",)),
    ],
)
def test_numerics_c24_a_part_may_be_fused_where_a_product_of_parts_overflows(
    value: complex, found: tuple[str, ...]
) -> None:
    seen = judged("product", FAR, value)
    assert (seen.outcome, *seen.classes[:1]) == found
