"""What a source documents otherwise is recorded for whoever follows it, and fails everybody else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.protocol import Ready
from conformance.cases.case import Case, Operand
from conformance.cases.declarations.terms import terms
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.judging.divergences import in_mesh_order
from conformance.judging.verdict import Verdict, judge
from conformance.runner.meaning import bound, meaning


def permute_over(axes: tuple[str, ...]) -> Case:
    step = Step(op="permute", inputs=("x",), outputs=("y",), axes=axes, attrs={"pairs": ((0, 1),)})
    mesh = (Axis(name="i", size=2), Axis(name="j", size=2))
    blocks = tuple(from_array(np.array([rank + 1], np.int32)) for rank in range(4))
    program = Program(mesh=mesh, steps=(step,), results=("y",))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 4)})


def judged(case: Case, seen: Observation, *follows: str) -> Verdict:
    return judge(meaning(case), seen, bound(terms(follows=follows)))


def sorted_members() -> Observation:
    expected = meaning(permute_over(("i", "j"))).expected["y"]
    return Observation(results={"y": tuple(None if b is None else from_array(b) for b in expected)})


def test_who_follows_the_source_diverges_and_nobody_else() -> None:
    case = permute_over(("j", "i"))
    followed, alone = judged(case, sorted_members(), "jax"), judged(case, sorted_members())
    assert (followed.outcome, followed.clauses["collective.C24"]) == ("passed", "diverges")
    assert (alone.outcome, alone.clauses["collective.C24"]) == ("failed", "broken")


def test_calls_on_what_a_diverging_call_made_diverge_too() -> None:
    one = permute_over(("j", "i"))
    (step,) = one.program.steps
    shifted = replace(step, attrs={"pairs": tuple((at, (at + 1) % 4) for at in range(4))})
    again = replace(shifted, inputs=("y",), outputs=("z",))
    case = replace(one, program=replace(one.program, steps=(shifted, again), results=("z",)))
    as_sorted = in_mesh_order(case)
    assert as_sorted is not None
    blocks = meaning(as_sorted).expected["z"]
    seen = Observation(results={"z": tuple(None if block is None else from_array(block) for block in blocks)})
    assert judged(case, seen, "jax").outcome == "passed"
    assert judged(case, seen).outcome == "failed"


def test_another_wrong_value_is_no_divergence() -> None:
    wrong = Observation(results={"y": tuple(from_array(np.array([9], np.int32)) for _ in range(4))})
    assert judged(permute_over(("j", "i")), wrong, "jax").outcome == "failed"


@pytest.mark.parametrize("silent", [False, True])
def test_a_refusal_diverges_where_every_rank_refuses(silent: bool) -> None:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), groups=((0,), (1,)))
    step = replace(step, attrs={"op": "sum", "local_axes": (0,)})
    blocks = tuple(from_array(np.array([1, 2], np.int32)) for _ in range(2))
    inputs = {"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)}
    case = Case(program=Program(mesh=(Axis(name="i", size=2),), steps=(step,), results=("y",)), inputs=inputs)
    error = RankError(kind="ValueError", message="no groups over local axes", category="invalid_argument")
    seen = Observation(errors=(error, None if silent else error))
    assert judged(case, seen, "jax").outcome == ("errored" if silent else "passed")


@pytest.mark.parametrize(("follows", "outcome"), [(("jax",), "passed"), ((), "failed")])
def test_what_a_source_gives_a_meaning_may_be_accepted(follows: tuple[str, ...], outcome: str) -> None:
    held, small = (
        Operand(blocks=(from_array(np.array([1, 2], dtype)),), layouts=("contiguous",)) for dtype in (np.int32, np.int8)
    )
    buffer = Step(op="buffer", inputs=("x",), outputs=("b",), axes=())
    total = Step(op="all_reduce", inputs=("v",), outputs=("y",), axes=("i",), attrs={"op": "sum"}, into=("b",))
    program = Program(mesh=(Axis(name="i", size=1),), steps=(buffer, total), results=("y",))
    seen = judged(
        Case(program=program, inputs={"x": held, "v": small}), Observation(results={"y": held.blocks}), *follows
    )
    assert (seen.outcome, seen.clauses["aliasing.C16"]) == (outcome, "diverges" if follows else "broken")


def test_a_refusal_of_sums_that_round_diverges_too() -> None:
    attrs = {"op": "sum", "axis": -1, "tiled": True}
    step = Step(op="reduce_scatter", inputs=("x",), outputs=("y",), axes=("i",), attrs=attrs)
    blocks = tuple(from_array(np.full(3, value, np.float32)) for value in (1e8, 1.1, 0.3))
    inputs = {"x": Operand(blocks=blocks, layouts=("contiguous",) * 3)}
    case = Case(program=Program(mesh=(Axis(name="i", size=3),), steps=(step,), results=("y",)), inputs=inputs)
    error = RankError(kind="ValueError", message="no negative axis", category="invalid_argument")
    assert judged(case, Observation(errors=(error,) * 3), "jax").outcome == "passed"


def saturated(found: list[int]) -> Verdict:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
    blocks = tuple(from_array(np.array([100, 1], np.int8)) for _ in range(2))
    inputs = {"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)}
    case = Case(program=Program(mesh=(Axis(name="i", size=2),), steps=(step,), results=("y",)), inputs=inputs)
    return judged(case, Observation(results={"y": (from_array(np.array(found, np.int8)),) * 2}), "mpi")


def test_what_a_source_leaves_open_may_be_stored_and_passed_on() -> None:
    steps = (
        Step(op="buffer", inputs=("x",), outputs=("b",), axes=()),
        Step(op="all_reduce", inputs=("b",), outputs=("t",), axes=("i",), attrs={"op": "sum"}, into=("b",), start=True),
        Step(op="done", inputs=("t",), outputs=("y",), axes=()),
        Step(op="broadcast", inputs=("x",), outputs=("z",), axes=("i",), attrs={"root": 0}),
    )
    program = Program(mesh=(Axis(name="i", size=2),), steps=steps, results=("b", "y", "z"))
    given = from_array(np.array([100, 1], np.int8))
    case = Case(program=program, inputs={"x": Operand(blocks=(given, given), layouts=("contiguous",) * 2)})
    found = from_array(np.array([127, 2], np.int8))
    seen = Observation(results={"b": (found, found), "y": (found, found), "z": (given, given)})
    assert (judged(case, seen, "mpi").outcome, judged(case, seen).outcome) == ("passed", "failed")


def test_what_a_source_leaves_open_is_anything_and_the_rest_is_demanded() -> None:
    assert saturated([127, 2]).clauses["reduction.C12"] == "diverges"
    assert (saturated([127, 2]).outcome, saturated([-56, 2]).outcome, saturated([127, 3]).outcome) == (
        "passed",
        "passed",
        "failed",
    )


def over_two(called: str, dtype: str, *bits: int, axes: tuple[str, ...] = ("i",), **attrs: str | int | bool) -> Case:
    kept = NUMPY[dtype]
    block = from_array(np.array(bits, f"u{kept.itemsize}").view(kept))
    step = Step(op=called, inputs=("x",), outputs=("y",), axes=axes, attrs=attrs)
    program = Program(mesh=(Axis(name="i", size=2),), steps=(step,), results=("y",))
    return Case(program=program, inputs={"x": Operand(blocks=(block, block), layouts=("contiguous",) * 2)})


def given(dtype: str, *bits: int) -> Observation:
    kept = NUMPY[dtype]
    return Observation(results={"y": (from_array(np.array(bits, f"u{kept.itemsize}").view(kept)),) * 2})


@pytest.mark.parametrize(
    ("kept", "summed", "held"), [(0x7FD2, 4, "held"), (0x7FC0, 4, "diverges"), (0x7FC0, 5, "broken")]
)
def test_jax_keeps_another_nan_for_a_narrow_one_beside_what_it_writes(kept: int, summed: int, held: str) -> None:
    bf16 = NUMPY["bfloat16"]
    block = np.concatenate([np.array([0x7FD2], np.uint16).view(bf16), np.array([2], bf16)])
    view = {"start": (1,), "stop": (2,), "step": (1,), "order": (0,)}
    steps = (
        Step(op="buffer", inputs=("x",), outputs=("b",), axes=()),
        Step(op="view", inputs=("b",), outputs=("v",), axes=(), attrs=view),
        Step(op="all_reduce", inputs=("y",), outputs=("s",), axes=("i",), attrs={"op": "sum"}, into=("v",)),
    )
    inputs = {
        name: Operand(blocks=(from_array(each),) * 2, layouts=("contiguous",) * 2)
        for name, each in {"x": block, "y": block[1:]}.items()
    }
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=steps, results=("b",)), inputs=inputs)
    got = np.concatenate([np.array([kept], np.uint16).view(bf16), np.array([summed], bf16)])
    found = judged(case, Observation(results={"b": (from_array(got),) * 2}), "jax")
    assert (found.clauses["aliasing.C7"], found.outcome) == (held, "failed" if held == "broken" else "passed")


@pytest.mark.parametrize(("dtype", "sent", "got", "outcome"), [
    ("float8_e5m2", 0xFE, 0x7F, "passed"), ("float8_e5m2", 0xFE, 0x7C, "failed"), ("float8_e5m2", 0x80, 0, "failed"),
    ("bfloat16", 0x7F81, 0x7FC0, "passed"), ("float16", 0x7E01, 0x7E00, "failed"),
])  # fmt: skip
def test_jax_gives_another_nan_for_a_narrow_one_that_it_moves(dtype: str, sent: int, got: int, outcome: str) -> None:
    case = over_two("broadcast", dtype, sent, 0, root=0)
    assert judged(case, given(dtype, got, 0), "jax").outcome == outcome
    assert judged(case, given(dtype, got, 0)).outcome == "failed"


def test_jax_refuses_a_scattered_sum_of_bools_and_no_other() -> None:
    refused = Observation(errors=(RankError(kind="TypeError", message="add", category="invalid_argument"),) * 2)
    told = judged(over_two("reduce_scatter", "bool", 1, 0, op="sum", axis=0, tiled=True), refused, "jax")
    assert (told.outcome, told.clauses["reduction.C11"]) == ("passed", "diverges")
    assert judged(over_two("reduce_scatter", "int8", 1, 0, op="sum", axis=0, tiled=True), refused, "jax").blame
    assert judged(over_two("all_reduce", "bool", 1, 0, op="sum"), refused, "jax").blame


def test_jax_ends_in_an_assertion_where_an_axis_is_named_twice_alone() -> None:
    failed = Observation(errors=(RankError(kind="AssertionError", message="", category="internal"),) * 2)
    twice, unknown = (over_two("all_gather", "int8", 1, axes=axes, axis=0, tiled=True) for axes in (("i", "i"), ("k",)))
    assert judged(twice, failed, "jax").clauses["collective.C14"] == "diverges"
    assert judged(twice, failed).clauses["collective.C14"] == "broken"
    assert judged(unknown, failed, "jax").clauses["collective.C14"] == "broken"


@pytest.mark.parametrize(("got", "outcome"), [(0xFF, "passed"), (0x7F, "failed")])
def test_jax_folds_the_format_without_zero_to_nan(got: int, outcome: str) -> None:
    case = over_two("all_reduce", "float8_e8m0fnu", 0x7F, 0x80, op="sum")
    assert judged(case, given("float8_e8m0fnu", got, 0x81), "jax").outcome == outcome
    assert judged(case, given("float8_e8m0fnu", got, 0x81)).outcome == "failed"


def test_who_follows_a_source_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown source 'jaxx' to follow; known are jax, mlx, mpi"):
        Ready(protocol=1, name="acme", description={}, claims={}, follows=("jaxx",))


def greatest(*found: float) -> tuple[Case, Observation]:
    """Return max of a NaN beside 1 and 2, and of 3 and 4, over two ranks, and what was found of it."""
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "max"})
    blocks = tuple(from_array(np.array(block, np.float32)) for block in ([np.nan, 3], [1, 4]))
    inputs = {"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)}
    result = from_array(np.array(found, np.float32))
    case = Case(program=Program(mesh=(Axis(name="i", size=2),), steps=(step,), results=("y",)), inputs=inputs)
    return case, Observation(results={"y": (result, result)})


def test_the_greatest_beside_a_nan_may_be_any_member_of_mpi_and_nothing_else() -> None:
    assert judged(*greatest(1, 4), "mpi").clauses["reduction.C20"] == "diverges"
    assert judged(*greatest(1, 4)).clauses["reduction.C20"] == "broken"
    assert judged(*greatest(7, 4), "mpi").outcome == judged(*greatest(1, 3), "mpi").outcome == "failed"


def test_either_zero_is_the_greatest_for_mlx_and_a_nan_is_not_lost() -> None:
    case, _ = greatest(0, 4)
    zeros = tuple(from_array(np.array([zero, 3], np.float32)) for zero in (0.0, -0.0))
    signed = replace(case, inputs={"x": Operand(blocks=zeros, layouts=("contiguous",) * 2)})
    seen = Observation(results={"y": (zeros[1], zeros[1])})
    assert judged(signed, seen, "mlx").clauses["numerics.C21"] == "diverges"
    assert judged(signed, seen).clauses["numerics.C21"] == "broken"
    assert judged(*greatest(1, 4), "mlx").clauses["reduction.C20"] == "broken"


@pytest.mark.parametrize(("got", "outcome"), [((0, 1, 3), "passed"), ((0, 7, 3), "failed"), ((0, 1, 2), "failed")])
@pytest.mark.parametrize("source", ["mpi", "torch"])
def test_a_lost_nan_beside_the_other_zero_is_both_of_a_source(source: str, got: list[float], outcome: str) -> None:
    case, _ = greatest(0, 4)
    blocks = tuple(from_array(np.array(block, np.float32)) for block in ([0.0, np.nan, 3], [-0.0, 1, 2]))
    signed = replace(case, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)})
    result = from_array(np.array(got, np.float32) * np.array([-1, 1, 1], np.float32))
    assert judged(signed, Observation(results={"y": (result, result)}), source).outcome == outcome
    assert judged(signed, Observation(results={"y": (result, result)})).outcome == "failed"


def test_an_unknown_axis_is_no_business_of_a_program_without_operands() -> None:
    step = Step(op="broadcast", inputs=(), outputs=(), axes=("nowhere",), attrs={"root": 0})
    case = Case(program=Program(mesh=(Axis(name="i", size=2),), steps=(step,), results=()), inputs={})
    assert judged(case, Observation(results={})).outcome == "passed"


def summed(dtype: str, op: str, found: np.ndarray) -> tuple[Case, Observation]:
    """Return a reduction of 1 and 1 over two ranks, and what was found of it."""
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": op})
    blocks = (from_array(np.ones(1, NUMPY[dtype])),) * 2
    inputs = {"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)}
    case = Case(program=Program(mesh=(Axis(name="i", size=2),), steps=(step,), results=("y",)), inputs=inputs)
    return case, Observation(results={"y": (from_array(found),) * 2})


@pytest.mark.parametrize(
    ("source", "clause", "dtype", "op", "found"),
    [
        ("stablehlo", "reduction.C11", "bool", "sum", np.array([True])),
        ("stablehlo", "reduction.C16", "complex64", "max", np.array([1], np.complex64)),
        ("jax", "reduction.C13", "int32", "mean", np.array([1], np.float32)),
        ("tinygrad", "reduction.C11", "bool", "product", np.array([True])),
    ],
)
def test_what_a_source_documents_of_numbers_diverges(
    source: str, clause: str, dtype: str, op: str, found: np.ndarray
) -> None:
    case, seen = summed(dtype, op, found)
    assert judged(case, seen, source).clauses[clause] == "diverges"
    assert judged(case, seen).clauses[clause] == "broken"
    assert judged(*summed(dtype, op, found * 0 + 7), source).outcome != "passed" or op == "max"


def test_a_sum_of_bools_is_no_disjunction_where_a_product_keeps_its_dtype() -> None:
    assert judged(*summed("bool", "sum", np.array([True])), "tinygrad").clauses["reduction.C11"] == "broken"


@pytest.mark.parametrize(("source", "found"), [("torch", "diverges"), ("mpi", "broken")])
def test_what_has_no_meaning_by_a_source_may_be_refused(source: str, found: str) -> None:
    case, _ = summed("bool", "sum", np.array([True]))
    (step,) = case.program.steps
    steps = (Step(op="buffer", inputs=("z",), outputs=("b",), axes=()), replace(step, into=("b",)))
    inputs = {**case.inputs, "z": Operand(blocks=(from_array(np.zeros(1, np.int32)),) * 2, layouts=("contiguous",) * 2)}
    into = replace(case, program=replace(case.program, steps=steps), inputs=inputs)
    seen = Observation(errors=(RankError(kind="ValueError", message="bool", category="invalid_argument"),) * 2)
    assert judged(into, seen, source).clauses["reduction.C11"] == found


@pytest.mark.parametrize(("said", "found"), [("UNIMPLEMENTED: c64", "diverges"), ("INTERNAL: c64", "broken")])
def test_what_a_source_gives_a_meaning_may_be_said_not_to_be_implemented(said: str, found: str) -> None:
    case, _ = summed("complex64", "max", np.array([1], np.complex64))
    seen = Observation(errors=(RankError(kind="JaxRuntimeError", message=said, category="internal"),) * 2)
    assert judged(case, seen, "jax").clauses["collective.C14"] == found
    assert judged(case, seen).clauses["collective.C14"] == "broken"


def gathered(*found: float) -> tuple[Case, Observation]:
    """Return an all_gather of -0.0 and 3 over two ranks, and what was found of it."""
    return moved((-0.0, 3), found)


def moved(given: Sequence[float], found: Sequence[float]) -> tuple[Case, Observation]:
    """Return an all_gather of numbers of float32, one a rank, and what was found of it."""
    step = Step(op="all_gather", inputs=("x",), outputs=("y",), axes=("i",), attrs={"axis": 0, "tiled": True})
    blocks = tuple(from_array(np.array([block], np.float32)) for block in given)
    inputs = {"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)}
    result = from_array(np.array(found, np.float32))
    case = Case(program=Program(mesh=(Axis(name="i", size=2),), steps=(step,), results=("y",)), inputs=inputs)
    return case, Observation(results={"y": (result, result)})


def test_who_gathers_by_adding_to_zeros_loses_the_sign_of_a_zero_alone() -> None:
    assert judged(*gathered(0, 3), "tinygrad").clauses["collective.C18"] == "diverges"
    assert judged(*gathered(0, 3)).clauses["collective.C18"] == "broken"
    assert judged(*gathered(-0.0, -3), "tinygrad").outcome == judged(*gathered(1, 3), "tinygrad").outcome == "failed"


def test_who_gathers_by_adding_to_zeros_makes_a_signalling_nan_quiet_and_loses_none() -> None:
    signalling, quiet = np.array([0x7F800001, 0x7FC00001], np.uint32).view(np.float32)
    seen = judged(*moved((signalling, 3), (quiet, 3)), "tinygrad"), judged(*moved((signalling, 3), (quiet, 3)))
    assert [each.clauses["collective.C18"] for each in seen] == ["diverges", "broken"]
    assert judged(*moved((signalling, 3), (0, 3)), "tinygrad").outcome == "failed"


def extreme_at(*found: int) -> tuple[Case, Observation]:
    """Return positions of the greatest of a NaN beside 1, and of 3 and 4, over two ranks, and what was found."""
    case, _ = greatest(0, 0)
    step = replace(case.program.steps[0], op="arg_reduce")
    result = from_array(np.array(found, np.int32))
    return replace(case, program=replace(case.program, steps=(step,))), Observation(results={"y": (result, result)})


def test_beside_a_nan_the_position_is_that_of_any_member_or_of_none() -> None:
    assert judged(*extreme_at(0, 1)).outcome == judged(*extreme_at(2**31 - 1, 1)).outcome == "passed"
    assert judged(*extreme_at(5, 1)).clauses["arg_reduce.C5"] == "broken"
    assert judged(*extreme_at(5, 1)).outcome == judged(*extreme_at(1, 0)).outcome == "failed"


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_wrong_complex_number_fails_who_follows_a_source_with_any_nan(dtype: str) -> None:
    step = Step(op="broadcast", inputs=("x",), outputs=("y",), axes=("i",), attrs={"root": 0})
    blocks = tuple(from_array(np.array([rank + 1, np.nan], dtype)) for rank in range(2))
    case = Case(
        program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)},
    )
    assert judged(case, Observation(results={"y": blocks}), "jax").outcome == "failed"


@pytest.mark.parametrize("order", [("y", "z"), ("z", "y")])
def test_a_clause_that_one_collective_diverges_from_and_another_keeps_is_diverged_from(order: tuple[str, str]) -> None:
    given = {"y": np.array([100, 1], np.int8), "z": np.array([100, 3], np.int8)}
    found = {"y": np.array([127, 2], np.int8), "z": np.array([-56, 6], np.int8)}
    steps = [Step(op="all_reduce", inputs=(f"x{n}",), outputs=(n,), axes=("i",), attrs={"op": "sum"}) for n in order]
    inputs = {
        f"x{n}": Operand(blocks=(from_array(block),) * 2, layouts=("contiguous",) * 2) for n, block in given.items()
    }
    case = Case(program=Program(mesh=(Axis(name="i", size=2),), steps=tuple(steps), results=order), inputs=inputs)
    seen = Observation(results={name: (from_array(block),) * 2 for name, block in found.items()})
    assert judged(case, seen, "mpi").clauses["reduction.C12"] == "diverges"
