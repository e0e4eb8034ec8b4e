"""A compiled program has the collectives of its steps in any order, and they bring each rank what it needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.observation import Observation
from conformance.cases.program.program import Attr, Axis
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.meaning import TypedMeaning, typed_meaning
from conformance.reference.types.compiled import comes, compiled, cut_off
from conformance.specs.types.verdict import judge

PROGRAM = TypedProgram(
    mesh=(Axis(name="i", size=2), Axis(name="j", size=2)),
    inputs={"a": TypedInput(dtype="float32", shape=(2,), varying=("i", "j"))},
    steps=(
        TypedStep(op="all_reduce", inputs=("a",), output="s", axes=("i",), attrs={"op": "sum"}),
        TypedStep(op="permute", inputs=("s",), output="v", axes=("j",), attrs={"pairs": ((0, 1),)}),
    ),
    results=("v",),
)
MEANING = typed_meaning(
    TypedCase(program=PROGRAM, inputs={"a": (from_array(np.ones(2, np.float32)),) * 4}, compiled=True)
)


def judged(change: Callable[[list[Lowered]], list[Lowered]]) -> tuple[str, str | None]:
    seen = Observation(lowered=tuple(change(compiled(PROGRAM))))
    verdict = judge(MEANING, seen)
    return verdict.outcome, verdict.blame and verdict.blame.id


def test_collectives_are_in_any_order() -> None:
    assert judged(lambda made: made[::-1]) == ("passed", None)


@pytest.mark.parametrize(
    ("clause", "change"),
    [
        ("lowering.C12", lambda made: [*made, made[0]]),
        ("lowering.C13", lambda made: [replace(made[0], groups=((0, 1, 2, 3),)), made[1]]),
        ("lowering.C14", lambda made: [replace(made[0], reducer="max"), made[1]]),
        ("lowering.C15", lambda made: [replace(made[0], started=True), made[1]]),
        ("lowering.C16", lambda made: made[1:]),
    ],
)
def test_a_compiled_program_breaks_each_clause(clause: str, change: Callable[[list[Lowered]], list[Lowered]]) -> None:
    assert judged(change) == ("failed", clause)


def on_ranks(world: int, dtype: str, *steps: TypedStep, shape: tuple[int, ...] = (1,)) -> TypedMeaning:
    given = dict.fromkeys("xyz", TypedInput(dtype=dtype, shape=shape, varying=("i",)))
    program = TypedProgram(mesh=(Axis(name="i", size=world),), inputs=given, steps=steps, results=(steps[-1].output,))
    blocks = (from_array(np.ones(shape, np.dtype(dtype))),) * world
    return typed_meaning(TypedCase(program=program, inputs=dict.fromkeys("xyz", blocks), compiled=True))


def of_two_ranks(dtype: str, *steps: TypedStep, shape: tuple[int, ...] = (1,)) -> TypedMeaning:
    return on_ranks(2, dtype, *steps, shape=shape)


EXCHANGED = TypedStep(op="permute", inputs=("x",), output="p", axes=("i",), attrs={"pairs": ((0, 1), (1, 0))})


def local(op: str, *inputs: str, output: str, **attrs: int) -> TypedStep:
    return TypedStep(op=op, inputs=inputs, output=output, attrs=dict(attrs))


def exchanged(axis: int, output: str) -> TypedStep:
    attrs = {"split_axis": axis, "concat_axis": axis, "tiled": True}
    return TypedStep(op="all_to_all", inputs=("x",), output=output, axes=("i",), attrs=attrs)


DEPENDING = {
    "the greatest bool": (
        "bool",
        [TypedStep(op="all_reduce", inputs=("x",), output="m", axes=("i",), attrs={"op": "max"})],
    ),
    "the greatest beside what is greater": (
        "float32",
        [
            EXCHANGED,
            TypedStep(op="add", inputs=("x", "x"), output="d"),
            TypedStep(op="add", inputs=("d", "x"), output="t"),
            TypedStep(op="maximum", inputs=("t", "p"), output="m"),
        ],
    ),
}


@pytest.mark.parametrize("name", DEPENDING)
def test_lowering_c16_what_depends_on_another_rank_at_some_values(name: str) -> None:
    dtype, steps = DEPENDING[name]
    assert judge(of_two_ranks(dtype, *steps), Observation()).clauses["lowering.C16"] == "broken"


def test_lowering_c16_what_equal_elements_and_equal_blocks_would_cancel() -> None:
    sums = [local("sum", "r", output="s", axis=0), local("sum", "c", output="t", axis=1)]
    rows = of_two_ranks(
        "int32", exchanged(0, "r"), exchanged(1, "c"), *sums, local("subtract", "s", "t", output="d"), shape=(2, 2)
    )
    product = local("multiply", "p", "d", output="m")
    apart, zero = (
        of_two_ranks("float32", EXCHANGED, local("subtract", "y", other, output="d"), product) for other in "zy"
    )
    found = [judge(each, Observation()).clauses.get("lowering.C16") for each in (rows, apart, zero)]
    assert found == ["broken", "broken", None]  # of the last the sign of a zero alone changes


@pytest.mark.parametrize(("left", "held"), [(2, "held"), (1, "broken")])
def test_lowering_c16_a_collective_of_a_chain_that_is_left_out(left: int, held: str) -> None:
    ring = tuple((rank, (rank + 1) % 4) for rank in range(4))
    steps = [
        TypedStep(op="permute", inputs=(of,), output=made, axes=("i",), attrs={"pairs": ring})
        for of, made in ("xa", "ab")
    ]
    meaning = on_ranks(4, "float32", *steps)
    seen = Observation(lowered=tuple(compiled(meaning.case.program)[:left]))
    assert judge(meaning, seen).clauses["lowering.C16"] == held


def test_lowering_c13_to_c16_say_nothing_of_a_program_without_collectives() -> None:
    negated = of_two_ranks("float32", local("negate", "x", output="n"))
    assert judge(negated, Observation()).clauses == {"lowering.C12": "held"}


def test_what_comes_from_a_rank_by_way_of_another_is_there() -> None:
    assert comes(compiled(PROGRAM), 4) == [{0, 2}, {0, 1, 2, 3}, {0, 2}, {0, 1, 2, 3}]
    assert cut_off(PROGRAM, compiled(PROGRAM)) is None
    assert cut_off(PROGRAM, compiled(PROGRAM)[:1]) == (frozenset({0}), 1)


def summed(output: str, axis: str, op: str) -> TypedStep:
    return TypedStep(op="all_reduce", inputs=("a",), output=output, axes=(axis,), attrs={"op": op})


def test_lowering_c14_each_of_two_groups_has_the_reduction_of_the_other() -> None:
    program = replace(PROGRAM, steps=(summed("s", "i", "sum"), summed("m", "j", "max")), results=("s", "m"))
    meaning = typed_meaning(replace(MEANING.case, program=program))
    first, second = compiled(program)
    turned = (replace(first, reducer="max"), replace(second, reducer="sum"))
    assert judge(meaning, Observation(lowered=(second, first))).outcome == "passed"
    assert judge(meaning, Observation(lowered=turned)).clauses["lowering.C14"] == "broken"


def test_lowering_c16_of_a_result_beside_one_of_a_ragged_exchange() -> None:
    rows: dict[str, Attr] = dict.fromkeys(("input_offsets", "output_offsets"), ((0, 0), (0, 0)))
    rows |= dict.fromkeys(("send_sizes", "recv_sizes"), ((1, 1), (1, 1)))
    ragged = TypedStep(op="ragged_all_to_all", inputs=("a", "a"), output="r", axes=("i",), attrs=rows)
    for results, said in ((("s", "r"), "broken"), (("r",), None)):
        program = replace(PROGRAM, steps=(summed("s", "i", "sum"), ragged), results=results)
        found = judge(typed_meaning(replace(MEANING.case, program=program)), Observation())
        assert found.clauses.get("lowering.C16") == said
