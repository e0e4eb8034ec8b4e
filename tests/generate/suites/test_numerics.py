"""The suite of numbers on single columns: which clause speaks, and what it lets pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.declarations.terms import terms
from conformance.cases.observation import Observation
from conformance.cases.program.program import Attr, Axis, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.generate.suites import DOMAINS
from conformance.judging.verdict import Verdict
from conformance.qualification.mutants.special_numbers import FlushesSingles
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import NONE, meaning, verdict
from conformance.runner.worker.answers import Answer


def column(dtype: str, op: str, *terms: complex, **attrs: Attr) -> Case:
    """Return an all_reduce of one element, a term a rank."""
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": op, **attrs})
    blocks = tuple(from_array(np.array([term]).astype(NUMPY[dtype])) for term in terms)
    operand = Operand(blocks=blocks, layouts=("contiguous",) * len(terms))
    return Case(program=Program(mesh=(Axis("i", len(terms)),), steps=(step,), results=("y",)), inputs={"x": operand})


def judged(case: Case, result: complex, **declared: Any) -> Verdict:
    """Return the verdict when every rank returns ``result``, of a backend that declared a number model."""
    block = from_array(np.array([result]).astype(NUMPY[case.inputs["x"].blocks[0].dtype]))
    seen = Answer(Observation(results={"y": (block,) * case.program.world}))
    return verdict(meaning(case), seen, terms(declared=declared))


INF, NAN, TINY = math.inf, math.nan, 2.0**-149


@pytest.mark.parametrize(("dtype", "op", "numbers", "right", "wrong", "clause"), [
    ("float32", "sum", (1e8, 1, -1e8), 1, 64, "numerics.C1"),
    ("bfloat16", "mean", (256, 1, 1, 1), 65, 72, "numerics.C2"),
    ("float32", "product", (1.1, 1.3, 1.7), 1.1 * 1.3 * 1.7, 2.432, "numerics.C4"),
    ("float16", "sum", (NAN, 1, 2), NAN, 3, "numerics.C5"),
    ("float64", "sum", (-0.0, -0.0), -0.0, 0.0, "numerics.C6"),
    ("float64", "sum", (1, -1, -0.0), 0.0, -0.0, "numerics.C7"),
    ("float32", "sum", (INF, 1, 2), INF, NAN, "numerics.C8"),
    ("float32", "sum", (INF, -INF, 2), NAN, INF, "numerics.C9"),
    ("float32", "product", (INF, 0, 2), NAN, 0, "numerics.C10"),
    ("float32", "product", (-1, 0, 2), -0.0, 0.0, "numerics.C11"),
    ("float64", "sum", (5e-324, 5e-324), 1e-323, 0, "numerics.C12"),
    ("float32", "sum", (TINY, TINY), 2 * TINY, 0, "numerics.C13"),
    ("float16", "sum", (65504, 65504), INF, 65504, "numerics.C14"),
    ("float8_e4m3fn", "sum", (448, 448), NAN, 448, "numerics.C15"),
    ("float8_e4m3fn", "sum", (448, 448, -448), 448, 0, "numerics.C15"),
    ("float32", "mean", (1, 0, 0), 1 / 3, 0.3333, "numerics.C16"),
    ("float16", "sum", (65504, 65504, -65504), 65504, 0, "numerics.C17"),
    ("bfloat16", "mean", (65536, 65536), 65536, INF, "numerics.C18"),
    ("complex64", "mean", (complex(INF, 1), complex(1, 1)), complex(INF, 1), complex(INF, NAN), "numerics.C19"),
    ("complex64", "mean", (complex(NAN, 1), complex(1, 1)), complex(NAN, 1), complex(NAN, NAN), "numerics.C19"),
    ("float32", "max", (-0.0, -0.0, -1), -0.0, 0.0, "numerics.C20"),
    ("bfloat16", "min", (0.0, 1, 2), 0.0, -0.0, "numerics.C20"),
    ("float8_e5m2", "max", (-0.0, 0.0, -1), -0.0, -1, "numerics.C20"),
    ("float16", "max", (-0.0, 0.0), 0.0, -0.0, "numerics.C21"),
    ("float64", "min", (0.0, -0.0), -0.0, 0.0, "numerics.C21"),
    ("complex64", "sum", (complex(NAN, 1), complex(1, 1)), complex(NAN, 2), complex(NAN, NAN), "numerics.C22"),
    ("complex64", "product", (complex(NAN, 1), 2 + 0j), complex(NAN, NAN), complex(NAN, 2), "numerics.C23"),
    ("complex64", "product", (complex(INF, 1), 2 + 0j), complex(INF, NAN), complex(INF, 2), "numerics.C24"),
    ("complex128", "product", (0j, -1 + 0.5j), complex(-0.0, 0.0), 0j, "numerics.C25"),
    ("complex64", "product", (2.0**100 + 1j, 2.0**29 + 0j), complex(INF, 2.0**29), complex(INF, INF), "numerics.C26"),
])  # fmt: skip
def test_a_clause_holds_for_what_is_right_and_breaks_for_what_is_not(
    dtype: str, op: str, numbers: tuple[complex, ...], right: complex, wrong: complex, clause: str
) -> None:
    case = column(dtype, op, *numbers)
    assert judged(case, right).clauses[clause] == "held"
    assert judged(case, wrong).clauses[clause] == "broken"


def test_a_must_admits_what_only_a_should_excludes() -> None:
    for case, result in (
        (column("float32", "max", -0.0, 0.0), -0.0),
        (column("complex64", "mean", complex(INF, 1), complex(1, 1)), complex(INF, NAN)),
    ):
        seen = judged(case, result)
        assert seen.blame is not None
        assert seen.blame.id in ("numerics.C19", "numerics.C21")
        assert seen.clauses["all_reduce.C1"] == "held"
    assert (
        judged(column("complex64", "mean", complex(INF, 1), complex(1, 1)), complex(NAN, 1)).clauses["all_reduce.C1"]
        == "broken"
    )


def test_of_what_is_declared_only_flushing_a_term_frees_the_sign_of_a_zero_that_is_chosen() -> None:
    zeros, small = column("float32", "max", 0.0, -0.0), column("float32", "max", 0.0, -0.0, -TINY)
    for declared in ({"mean": "reciprocal"}, {"accumulate": "float64"}, {"subnormals": "flushed"}):
        assert judged(zeros, -0.0, **declared).clauses["numerics.C21"] == "broken"
    assert judged(small, -0.0, subnormals="flushed").clauses["numerics.C21"] == "held"
    assert judged(small, -0.0, mean="reciprocal").clauses["numerics.C21"] == "broken"
    assert judged(small, -TINY, subnormals="flushed").clauses["numerics.C20"] == "held"


def test_a_product_is_that_of_the_formula_or_what_annex_g_recovers() -> None:
    case = column("complex64", "product", complex(INF, 0), 1j, 1 + 1j)
    for right in (complex(NAN, NAN), complex(-INF, INF)):
        assert judged(case, right).outcome == "passed"
    for wrong in (complex(INF, INF), 0j, complex(NAN, 1)):
        assert judged(case, wrong).clauses["numerics.C24"] == "broken"


def test_classes_are_those_that_every_element_has() -> None:
    case = column("float32", "sum", 1e8, 1, -1e8)
    assert judged(case, 0).classes == ("exact",)
    assert judged(case, 1).classes == ("any_tree",)
    assert judged(case, 4).classes == ()


def test_a_fused_product_is_admissible_where_declared_and_a_factor_of_one_is_exact() -> None:
    case = column("float32", "premul_sum", 1.1, 1.3, factor=0.75)
    x, y = (np.float64(np.float32(term)) for term in (1.1, 1.3))
    fused = np.float32(np.float64(np.float32(0.75 * x)) + 0.75 * y)
    assert judged(case, float(fused), multiply_add="fused").clauses["numerics.C3"] == "held"
    assert judged(column("float32", "premul_sum", 1.1, 1.3, factor=1.0), 2.5).clauses["reduction.C8"] == "broken"


def test_flushing_singles_breaks_a_must_unless_it_is_declared() -> None:
    broken: set[tuple[bool, str] | None] = set()
    flushes = terms(declared={"subnormals": "flushed"})

    def sink(case: Case) -> None:
        for declared in (NONE, flushes):
            seen = verdict(meaning(case), Answer(FlushesSingles().execute(case)), declared)
            broken.add(None if seen.blame is None else (declared is flushes, seen.blame.requirement))
            assert verdict(meaning(case), Answer(Reference().execute(case)), declared).outcome == "passed"

    draw_cases(DOMAINS["numerics"]["all_reduce"], 120, 0, sink)
    assert broken == {None, (False, "must")}
