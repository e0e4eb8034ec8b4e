"""Each wrong value is blamed on the collective that made it, and what came of it on the first."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.claim_limits import outside
from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Attr, Axis, Program, Step
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.judging.collectives import acts
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def call(name: str, operand: str, output: str, *into: str, **attrs: Attr) -> Step:
    return Step(op=name, inputs=(operand,), outputs=(output,), axes=("i",), attrs=attrs, into=into)


def effect(op: str, *inputs: str, to: tuple[str, ...] = ()) -> Step:
    return Step(op=op, inputs=inputs, outputs=to, axes=())


WRITING = ("buffer", "in_place")
GATHER = call("all_gather", "x", "g", axis=0, tiled=True)
SUM = call("all_reduce", "x", "s", op="sum")
SUM_OF_IT = call("all_reduce", "g", "s", op="sum")


def program(*steps: Step, results: str, dtypes: tuple[str, ...] = ("int32",)) -> Case:
    inputs = {
        name: Operand(blocks=tuple(from_array(np.array([r, 1], dtype)) for r in range(2)), layouts=("contiguous",) * 2)
        for name, dtype in zip("xz", dtypes, strict=False)
    }
    return Case(program=Program(mesh=(Axis("i", 2),), steps=steps, results=tuple(results.split())), inputs=inputs)


def blamed(case: Case, *wrong: str) -> set[str]:
    expected = meaning(case).expected
    results = {
        name: tuple(from_array(np.asarray(b)) for b in blocks if b is not None) for name, blocks in expected.items()
    }
    for name in wrong:
        first = results[name][0]
        assert first is not None
        results[name] = (from_array(to_array(first) + 5), *results[name][1:])
    judged = verdict(meaning(case), Answer(Observation(results=results)))
    return {clause.split(".")[0] for clause, held in judged.clauses.items() if held == "broken"}


@pytest.mark.parametrize(
    ("steps", "wrong", "families"),
    [
        ((GATHER, SUM), "g", {"all_gather"}),
        ((GATHER, SUM), "s", {"all_reduce", "reduction"}),
        ((GATHER, SUM), "g s", {"all_gather", "all_reduce", "reduction"}),
        ((GATHER, SUM_OF_IT), "g s", {"all_gather"}),
        ((GATHER, SUM_OF_IT), "s", {"all_reduce", "reduction"}),
    ],
)
def test_a_wrong_value_is_blamed_on_who_made_it(steps: tuple[Step, ...], wrong: str, families: set[str]) -> None:
    assert blamed(program(*steps, results="g s"), *wrong.split()) == families


def test_storage_is_of_whoever_wrote_it_last_and_a_copy_of_whoever_had() -> None:
    first = call("all_reduce", "x", "s", "b", op="sum")
    second = call("broadcast", "x", "r", "b", root=1)
    steps = (effect("buffer", "x", to=("b",)), first, effect("copy", "b", to=("c",)), second)
    found = acts(program(*steps, results="c r b"))
    assert [(act.results, act.after) for act in found] == [(("c",), frozenset()), (("r", "b"), frozenset())]


def test_a_collective_is_judged_by_the_dtype_it_reads() -> None:
    other = replace(SUM, inputs=("z",), outputs=("t",))
    case = program(SUM, other, results="s t", dtypes=("bool", "int32"))
    assert "reduction.C11" in verdict(meaning(case), Answer(Observation(results={}))).clauses
    assert blamed(case, "t") == {"all_reduce", "reduction"}


def test_claims_of_an_operation_are_about_what_it_meets() -> None:
    in_place = call("broadcast", "b", "r", "b", root=0)
    case = program(SUM, effect("buffer", "z", to=("b",)), in_place, results="s r", dtypes=("float32", "int32"))
    facts = meaning(case).features.by_op
    assert [facts[op]["dtype"] for op in ("all_reduce", "broadcast")] == [{"float32"}, {"int32"}]
    assert "op" not in facts["broadcast"]
    assert [facts[op]["effects"] for op in ("all_reduce", "broadcast")] == [{"buffer"}, {"buffer", "in_place"}]
    claims = {"all_reduce": {"dtype": ["float32"], "effects": ["buffer"]}, "broadcast": {"effects": WRITING}}
    assert outside(claims, facts) is None


def test_a_dtype_that_no_collective_meets_is_one_that_all_claims_are_about() -> None:
    stored = effect("buffer", "z", to=("b",))
    case = program(SUM, stored, results="s b", dtypes=("float32", "int32"))
    assert (
        outside({"all_reduce": {"dtype": ["float32"], "effects": ["buffer"]}}, meaning(case).features.by_op) is not None
    )
