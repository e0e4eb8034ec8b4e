"""What shard_map and vmap both do: operations, operands and axes in every form."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.claim_limits import supported
from conformance.backends.jax import Jax, JaxUnchecked, JaxVmap
from conformance.cases.case import Case
from conformance.cases.declarations.terms import terms
from conformance.cases.program.features import features
from conformance.cases.program.program import Attr, Axis, Groups, Step
from conformance.cases.tensor.dtypes import DRAWN
from conformance.judging.verdict import judge
from conformance.runner.meaning import bound, meaning
from tests.backends.jax.conftest import agrees, counting, one_step, over, program, refusal

I4 = {"i": 4}
IJ = {"i": 2, "j": 3}


@pytest.mark.parametrize("dtype", DRAWN)
def test_every_dtype(mode: Jax, dtype: str) -> None:
    agrees(mode, one_step("all_reduce", counting((3,), 3, dtype), op="sum"))
    agrees(mode, one_step("all_gather", counting((3,), 3, dtype), axis=0, tiled=True))


@pytest.mark.parametrize("dtype", ["int64", "bfloat16", "float32", "complex64"])
def test_mean(mode: Jax, dtype: str) -> None:
    agrees(mode, one_step("all_reduce", counting((2,), 4, dtype), op="mean"))


@pytest.mark.parametrize("local_axes", [(), (0,), (1, 0)])
@pytest.mark.parametrize("op", ["sum", "max"])
def test_positional_axes_beside_names_are_not_claimed(
    vmap: JaxVmap, unchecked: JaxUnchecked, op: str, local_axes: tuple[int, ...]
) -> None:
    case = one_step("all_reduce", counting((2, 3), 4), op=op, local_axes=local_axes)
    agrees(vmap, case)
    agrees(unchecked, case)
    assert claimed(vmap, case) is (not local_axes)


@pytest.mark.parametrize("op", ["max", "min"])
def test_arg_reduce(mode: Jax, op: str) -> None:
    agrees(mode, one_step("arg_reduce", [np.array([1, 5, 7]), np.array([7, 5, 0]), np.array([7, 9, 1])], op=op))


def test_shuffle(mode: Jax) -> None:
    agrees(mode, one_step("shuffle", counting((2,), 3), sources=(1, 2, 0)))


@pytest.mark.parametrize("axes", [("i",), ("j",), ("j", "i"), ("i", "j")])
@pytest.mark.parametrize(("op", "attrs"), [("axis_index", {}), ("axis_size", {}), ("reduce_constant", {"value": -3})])
def test_questions_without_operands(mode: Jax, op: str, attrs: dict[str, Attr], axes: tuple[str, ...]) -> None:
    agrees(mode, over(IJ, op, axes, {}, **attrs))


def test_several_operands_are_one_call(mode: Jax) -> None:
    two = {"x": counting((2,), 4), "v": counting((3, 1), 4, "int8")}
    agrees(mode, over(I4, "all_reduce", ("i",), two, ("y", "w"), op="sum"))
    agrees(mode, over(I4, "permute", ("i",), two, ("y", "w"), pairs=((0, 1), (1, 2), (2, 3), (3, 0))))


def test_no_operands_are_no_results(mode: Jax) -> None:
    agrees(mode, over(I4, "all_reduce", ("i",), {}, (), op="sum"))
    agrees(mode, over(IJ, "all_gather", ("j", "i"), {}, (), axis=0, tiled=False))


@pytest.mark.parametrize("axes", [("k",), ("j", "i"), ("k", "i", "j"), ()])
def test_axes_of_a_mesh_in_any_order(mode: Jax, axes: tuple[str, ...]) -> None:
    agrees(mode, over({"i": 2, "j": 1, "k": 2}, "all_reduce", axes, {"x": counting((2,), 4)}, op="sum"))


@pytest.mark.parametrize("op", ["all_reduce", "reduce_scatter"])
def test_groups_along_a_tuple_of_axes(unchecked: JaxUnchecked, op: str) -> None:
    attrs: dict[str, Attr] = {"op": "sum"} if op == "all_reduce" else {"op": "sum", "axis": 0, "tiled": True}
    groups = ((3, 0, 4), (5, 1, 2))
    agrees(unchecked, over(IJ, op, ("j", "i"), {"x": counting((3,), 6)}, groups=groups, **attrs))
    agrees(unchecked, over({"i": 3, "j": 2}, op, ("i",), {"x": counting((3,), 6)}, groups=((1, 2, 0),), **attrs))


def test_mean_and_constant_over_groups(jax: Jax, unchecked: JaxUnchecked) -> None:
    groups = ((3, 0), (1, 2))
    mean = one_step("all_reduce", counting((2,), 4), groups, op="mean")
    agrees(unchecked, mean)
    assert refusal(jax, mean).kind == "NotImplementedError"  # with the checks that are on by default
    agrees(jax, over(I4, "reduce_constant", ("i",), {}, groups=groups, value=5))


def test_a_python_int_is_an_int32_unless_it_is_too_large_for_one(mode: Jax) -> None:
    agrees(mode, over(IJ, "axis_size", ("i", "j"), {}))
    beyond = mode.execute(over(I4, "reduce_constant", ("i",), {}, value=2**30))
    assert [block and block.dtype for block in beyond.results["y"]] == ["int64"] * 4


@pytest.mark.parametrize("axes", [("nowhere",), ("nowhere", "j"), ("i", "i")])
def test_unknown_and_repeated_names_reach_jax(mode: Jax, axes: tuple[str, ...]) -> None:
    assert refusal(mode, over(IJ, "all_reduce", axes, {"x": counting((2,), 6)}, op="sum")).kind != "Unsupported"


def exchange(dtype: str = "float32") -> Case:
    pairs = ((0, 1), (1, 0))
    send = Step(op="send", inputs=("x",), outputs=("t",), axes=("i",), attrs={"pairs": pairs})
    attrs: dict[str, Attr] = {"pairs": pairs, "shape": (3,), "dtype": dtype}
    recv = Step(op="recv", inputs=("t",), outputs=("y",), axes=("i",), attrs=attrs)
    return program([send, recv], (Axis("i", 2),), counting((3,), 2))


def test_send_and_recv_are_for_gpus(jax: Jax) -> None:
    assert "only implemented on GPU" in refusal(jax, exchange()).message
    assert "send" not in jax.claims


def test_jax_itself_refuses_an_unknown_dtype(jax: Jax) -> None:
    assert refusal(jax, exchange("float31")).category == "invalid_argument"


def ragged() -> Case:
    tables = [[[1, 2, 2], [3, 4, 0]], [[0] * 4] * 2, [[0, 1]] * 2, [[1, 2], [1, 1]], [[0, 0], [1, 2]], [[1, 1], [2, 1]]]
    names = ("operand", "output", "input_offsets", "send_sizes", "output_offsets", "recv_sizes")
    operands = {name: [np.array(row, np.int32) for row in rows] for name, rows in zip(names, tables, strict=True)}
    return over({"i": 2}, "ragged_all_to_all", ("i",), operands)


def test_ragged_all_to_all_is_for_other_platforms(jax: Jax, vmap: JaxVmap) -> None:
    assert "not supported by XLA:CPU" in refusal(jax, ragged()).message
    assert "feature request" in refusal(vmap, ragged()).message


def test_vmap_has_no_limit_of_devices(vmap: JaxVmap) -> None:
    agrees(vmap, one_step("all_reduce", counting((3,), 9), op="max"))


@pytest.mark.parametrize("op", ["product", "and", "or", "xor", "premul_sum"])
def test_other_reductions_are_unsupported(mode: Jax, op: str) -> None:
    case = one_step("all_reduce", counting((2,), 2), op=op, factor=2.0)
    assert refusal(mode, case).kind == "Unsupported"
    assert not claimed(mode, case)


@pytest.mark.parametrize("op", ["reduce", "gather", "scatter", "barrier", "all_to_all_uneven"])
def test_other_operations_are_unsupported(mode: Jax, op: str) -> None:
    assert op not in mode.claims
    assert f"has no {op}" in refusal(mode, one_step(op, counting((2,), 2))).message


def claimed(backend: Jax, case: Case) -> bool:
    return supported(backend.claims, [case.program.steps[0].op], features(case)) is None


@pytest.mark.parametrize("groups", [None, ((0, 1), (2, 3))])
def test_vmap_claims_no_groups(vmap: JaxVmap, groups: Groups | None) -> None:
    case = one_step("all_reduce", counting((2,), 4), groups, op="sum")
    assert claimed(vmap, case) is (groups is None)
    assert groups is None or refusal(vmap, case).category == "unsupported"


@pytest.mark.parametrize("dtype", ["float6_e2m3fn", "float6_e3m2fn"])
def test_dtypes_that_the_processor_does_not_know_are_not_claimed(mode: Jax, dtype: str) -> None:
    assert not claimed(mode, one_step("permute", counting((2,), 4, dtype), pairs=((0, 1),)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_mean_by_the_rounded_inverse_of_the_count_is_declared(mode: Jax, dtype: str) -> None:
    case = one_step("all_reduce", [np.array([9 * rank], dtype) for rank in range(5)], op="mean")
    seen, own = mode.execute(case), bound(terms(declared=mode.number_model))
    assert judge(meaning(case), seen, own).outcome == "passed"


@pytest.mark.parametrize("axes", [("i",), ("i", "j"), ("nowhere", "j")])
def test_vmap_claims_all_gather_over_one_axis(vmap: JaxVmap, axes: tuple[str, ...]) -> None:
    case = over(IJ, "all_gather", axes, {"x": counting((2,), 6)}, axis=0, tiled=True)
    assert claimed(vmap, case) is (len(axes) == 1)
    assert vmap.execute(case).raised is (len(axes) > 1)


def test_the_checks_refuse_extremes_over_no_axis(jax: Jax, unchecked: JaxUnchecked) -> None:
    case = over(IJ, "all_reduce", (), {"x": counting((2,), 6)}, op="max")
    agrees(unchecked, case)
    assert "variant->invariant" in refusal(jax, case).message
    assert claimed(unchecked, case)
    assert not claimed(jax, case)


def test_arg_reduce_is_not_public_and_takes_one_axis(mode: Jax) -> None:
    blocks = {"x": counting((2,), 6)}
    assert "arg_reduce" not in mode.claims
    agrees(mode, over(IJ, "arg_reduce", ("j",), blocks, op="max"))
    assert "only accepts a single axis" in refusal(mode, over(IJ, "arg_reduce", ("i", "j"), blocks, op="max")).message


def test_what_jax_refuses_to_compile_it_is_asked_once(mode: Jax, monkeypatch: pytest.MonkeyPatch) -> None:
    case = one_step("all_gather", counting((5, 1), 2), axis=7, tiled=True)
    before = refusal(mode, case)
    monkeypatch.setattr(mode._kept, "_over", lambda program: pytest.fail("asked again"))
    assert refusal(mode, case) == before
    other = one_step("all_gather", counting((5, 1), 2, "int8"), axis=7, tiled=True)
    with pytest.raises(pytest.fail.Exception, match="asked again"):
        mode.execute(other)
