"""Guarantees: who gives one is held to it, and of everybody else it is only told."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.protocol import Ready
from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.declarations.guarantees import check_guarantees
from conformance.cases.declarations.terms import terms
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Attr, Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.generate.suites import DOMAINS
from conformance.judging.verdict import Verdict, judge
from conformance.qualification.mutants.determinism import AddsInOrderOfArrival, EveryRankBeginsWithItself
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import bound, meaning, verdict
from conformance.runner.worker.answers import Answer, Broken


def breaking(guarantees: frozenset[str]) -> list[Verdict]:
    """Return the verdicts on cases in which the ranks do not agree."""
    found: list[Verdict] = []
    backend = EveryRankBeginsWithItself()
    clauses = bound(terms(guarantees))
    domain = DOMAINS["determinism"]["all_reduce"]
    draw_cases(domain, 10, 0, lambda case: found.append(judge(meaning(case), backend.execute(case), clauses)))
    return [judged for judged in found if judged.clauses.get("determinism.C1") == "broken"]


def test_a_law_that_nobody_guarantees_is_told_and_fails_nothing() -> None:
    seen = breaking(frozenset())
    assert seen
    assert all((judged.outcome, judged.blame) == ("passed", None) for judged in seen)


def test_a_law_that_is_guaranteed_is_a_must() -> None:
    seen = breaking(frozenset({"ranks_agree"}))
    assert seen
    for judged in seen:
        assert judged.outcome == "failed"
        assert judged.blame is not None
        assert (judged.blame.id, judged.blame.requirement) == ("determinism.C1", "must")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("speed",), "unknown guarantee 'speed'; known are ranks_agree, size,"),
        (("run_to_run", "size"), "the guarantee 'size' means nothing without 'position'; give both or neither"),
    ],
)
def test_a_guarantee_that_is_none_or_stands_alone_is_refused(given: tuple[str, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Ready(protocol=1, name="acme", description={}, claims={}, guarantees=given)


def test_a_mutant_gives_what_it_breaks() -> None:
    check_guarantees(AddsInOrderOfArrival().guarantees)
    assert "run_to_run" in AddsInOrderOfArrival().guarantees


def mean_of_integers_beside_a_sum() -> Case:
    """Return two steps: what only a *should* asks for, and a sum of floats whose order shows."""
    blocks = {"x": np.array([[1], [2], [4]], np.int32), "z": np.array([[2.0**24], [1], [-(2.0**24)]], np.float32)}
    steps = [
        Step(op="all_reduce", inputs=(name,), outputs=(name * 2,), axes=("i",), attrs={"op": op})
        for name, op in (("x", "mean"), ("z", "sum"))
    ]
    inputs = {
        name: Operand(blocks=tuple(map(from_array, rows)), layouts=("contiguous",) * 3) for name, rows in blocks.items()
    }
    return Case(program=Program(mesh=(Axis("i", 3),), steps=tuple(steps), results=("xx", "zz")), inputs=inputs)


def test_determinism_c1_says_nothing_of_ranks_that_raised_or_crashed() -> None:
    subject, agreeing = meaning(mean_of_integers_beside_a_sum()), terms(frozenset({"ranks_agree"}))
    assert "determinism.C1" in verdict(subject, Answer(Reference().execute(subject.case)), agreeing).clauses
    refusal = RankError(kind="NoKernel", message="no mean of int32", category="internal")
    seen = verdict(subject, Answer(Observation(errors=(refusal,) * 3)), agreeing)
    assert (seen.blame and seen.blame.id, "determinism.C1" in seen.clauses) == ("reduction.C13", False)
    assert "determinism.C1" not in verdict(subject, Answer(Broken("crashed", "SIGSEGV")), agreeing).clauses


def test_determinism_c6_of_bits_that_depend_on_the_values_of_another_operand() -> None:
    rows = {"x": [1, 2.0**-24, 2.0**-24], "a": [0, 1, 2], "b": [9, 10, 11]}
    steps = [
        Step(op="all_reduce", inputs=("x", name), outputs=(f"x{name}", name * 2), axes=("i",), attrs={"op": "sum"})
        for name in "ab"
    ]
    inputs = {
        name: Operand(
            blocks=tuple(from_array(np.array([each], np.float32)) for each in row), layouts=("contiguous",) * 3
        )
        for name, row in rows.items()
    }
    program = Program(mesh=(Axis("i", 3),), steps=tuple(steps), results=("xa", "aa", "xb", "bb"))
    subject = meaning(Case(program=program, inputs=inputs))
    right = Reference().execute(subject.case)
    other = (from_array(np.array([1 + 2.0**-23], np.float32)),) * 3
    for seen, said in ((right, "held"), (replace(right, results=right.results | {"xb": other}), "broken")):
        assert verdict(subject, Answer(seen), terms(frozenset({"coalescing"}))).clauses["determinism.C6"] == said


TINY = 2.0**-24
UP = 1 + 2.0**-23


def of_two_groups(left: list[list[complex]], right: list[list[complex]], dtype: str) -> Case:
    """Return a sum over two groups of three ranks each."""
    rows = tuple(from_array(np.array(row, dtype)) for row in (*left, *right))
    step = Step(
        op="all_reduce",
        inputs=("x",),
        outputs=("y",),
        axes=("i",),
        groups=((0, 1, 2), (3, 4, 5)),
        attrs={"op": "sum"},
    )
    inputs = {"x": Operand(blocks=rows, layouts=("contiguous",) * 6)}
    return Case(program=Program(mesh=(Axis("i", 6),), steps=(step,), results=("y",)), inputs=inputs)


def relabelled(case: Case, left: object, right: object, dtype: str) -> str | None:
    blocks = [from_array(np.array(each, dtype)) for each in (left, right)]
    seen = Observation(results={"y": (blocks[0],) * 3 + (blocks[1],) * 3})
    given = terms(frozenset({"history", "run_to_run", "rank_relabelling"}))
    return verdict(meaning(case), Answer(seen), given).clauses.get("determinism.C4")


@pytest.mark.parametrize(("part", "held"), [(1.0, "held"), (UP, "broken")])
def test_determinism_c4_of_the_part_beside_a_nan(part: float, held: str) -> None:
    rows: list[list[complex]] = [[complex(np.nan, 1), 1], [complex(1, TINY), TINY], [complex(1, TINY), TINY]]
    case = of_two_groups(rows, rows, "complex64")
    assert relabelled(case, [complex(np.nan, 1), 1], [complex(np.nan, part), 1], "complex64") == held


@pytest.mark.parametrize(("beside", "held"), [(5.0, "broken"), (8.0, None)])
def test_determinism_c4_is_about_groups_that_hold_the_same_blocks(beside: float, held: str | None) -> None:
    left, right = [[[1, first], [TINY, 6], [TINY, 7]] for first in (5, beside)]
    case = of_two_groups(left, right, "float32")  # type: ignore[arg-type]  # whole numbers, too
    assert relabelled(case, [1, 18], [UP, 13 + beside], "float32") == held


def test_determinism_c4_says_nothing_of_another_shape() -> None:
    rows: list[list[complex]] = [[1], [TINY], [TINY]]
    assert relabelled(of_two_groups(rows, rows, "float32"), [[1]], [[1]], "float32") is None


@pytest.mark.parametrize("way", ["plain", "over a local axis too", "started", "of what was computed"])
def test_determinism_c1_of_every_all_reduce(way: str) -> None:
    attrs: dict[str, Attr] = {"op": "sum"}
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs=attrs)
    done = Step(op="done", inputs=("t",), outputs=("y",), axes=())
    steps = {
        "plain": (step,),
        "over a local axis too": (replace(step, attrs={**attrs, "local_axes": (0,)}),),
        "started": (replace(step, outputs=("t",), start=True), done),
        "of what was computed": (replace(step, outputs=("t",)), replace(step, inputs=("t",))),
    }[way]
    given = Operand(
        blocks=tuple(from_array(np.array([each], np.float32)) for each in (1.0, 2.0**-24, 2.0**-24)),
        layouts=("contiguous",) * 3,
    )
    subject = meaning(Case(program=Program(mesh=(Axis("i", 3),), steps=steps, results=("y",)), inputs={"x": given}))
    seen = Reference().execute(subject.case)
    (first, *others) = seen.results["y"]
    assert first is not None
    off = replace(first, bits=f"{int(first.bits[:2], 16) ^ 1:02x}{first.bits[2:]}")
    agreeing = terms(frozenset({"ranks_agree"}))
    for made, said in ((seen, "held"), (replace(seen, results={"y": (off, *others)}), "broken")):
        assert verdict(subject, Answer(made), agreeing).clauses["determinism.C1"] == said


def test_determinism_c1_of_a_result_without_elements() -> None:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum", "local_axes": (1,)})
    given = Operand(blocks=(from_array(np.zeros((0, 2), np.float32)),) * 2, layouts=("contiguous",) * 2)
    subject = meaning(Case(program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)), inputs={"x": given}))
    seen = verdict(subject, Answer(Reference().execute(subject.case)), terms(frozenset({"ranks_agree"})))
    assert seen.clauses["determinism.C1"] == "held"
